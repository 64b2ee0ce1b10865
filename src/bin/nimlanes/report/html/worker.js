// What runs in a worker: one request in a process of the module, with as much of WASI as it needs. Each line of the answer is a message.

onmessage = ({ data: { module, request } }) => {
    const [DONE, BAD_FILE] = [0, 8];
    const [OUT, ERRORS] = [1, 2];
    const input = new TextEncoder().encode(request);
    let read = 0;
    const texts = { [OUT]: '', [ERRORS]: '' };
    const decoders = { [OUT]: new TextDecoder(), [ERRORS]: new TextDecoder() };
    let memory;
    const view = () => new DataView(memory.buffer);

    /** The `count` buffers whose addresses and lengths are listed at `list`. */
    const buffers = (list, count) =>
        Array.from({ length: count }, (_, i) => {
            const [address, length] = [0, 4].map(word => view().getUint32(list + 8 * i + word, true));
            return new Uint8Array(memory.buffer, address, length);
        });

    /** Passes buffers to `use`, which returns how many bytes it has used. */
    function transfer(list, count, result, use) {
        const used = buffers(list, count).reduce((total, buffer) => total + use(buffer), 0);
        view().setUint32(result, used, true);
        return DONE;
    }

    /** No arguments, and no environment. */
    function sizes(count, bytes) {
        view().setUint32(count, 0, true);
        view().setUint32(bytes, 0, true);
        return DONE;
    }

    const wasi = {
        args_sizes_get: sizes,
        args_get: () => DONE,
        environ_sizes_get: sizes,
        environ_get: () => DONE,
        clock_time_get(clock, precision, result) {
            const CALENDAR = 0;
            const now = performance.now() + (clock === CALENDAR ? performance.timeOrigin : 0);
            view().setBigUint64(result, BigInt(Math.round(1e6 * now)), true);
            return DONE;
        },
        random_get(address, length) {
            crypto.getRandomValues(new Uint8Array(memory.buffer, address, length));
            return DONE;
        },
        fd_read(file, list, count, result) {
            return transfer(list, count, result, buffer => {
                const part = input.subarray(read, read + buffer.length);
                buffer.set(part);
                read += part.length;
                return part.length;
            });
        },
        fd_write(file, list, count, result) {
            if (!(file in texts)) {
                return BAD_FILE;
            }
            transfer(list, count, result, buffer => {
                texts[file] += decoders[file].decode(buffer, { stream: true });
                return buffer.length;
            });
            if (file === OUT) {
                const lines = texts[OUT].split('\n');
                texts[OUT] = lines.pop();
                lines.forEach(line => postMessage(line));
            }
            return DONE;
        },
        proc_exit(code) {
            throw new Error(`the module ended with code ${code}`);
        },
    };
    // There are no files.
    const names = WebAssembly.Module.imports(module).map(({ name }) => name);
    const imports = Object.fromEntries(names.map(name => [name, wasi[name] ?? (() => BAD_FILE)]));
    try {
        const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports });
        memory = exports.memory;
        exports._start();
    } catch (error) {
        postMessage(JSON.stringify({ error: texts[ERRORS].trim() || error.message }));
    }
};
