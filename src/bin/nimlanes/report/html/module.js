// The module of the page: the library in WebAssembly, which answers requests in a worker.

/** The smallest module with a vector instruction; engines without vectors refuse it. */
const VECTORS = new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);

/** The tier that this browser has. */
const tierHere = globalThis.WebAssembly?.validate(VECTORS) ? 'simd128' : 'portable';

/** The module for this browser, unpacked and compiled when it is first needed. */
const compiled = (() => {
    let module = null;
    const compile = async () => WebAssembly.compile(await unpacked(`module-${tierHere}`).arrayBuffer());
    return () => (module ??= compile());
})();

const WORKER = URL.createObjectURL(new Blob([byId('worker').textContent], { type: 'text/javascript' }));

/**
 * Passes each line of the answer to a request to `take`. The promise resolves at the end of the answer. It rejects with the error
 * that the module reports, or when `signal` is aborted, which ends the work at once.
 */
async function ask(request, take, signal) {
    const module = await compiled();
    signal.throwIfAborted();
    const worker = new Worker(WORKER);
    const answered = new Promise((resolve, reject) => {
        worker.addEventListener('message', ({ data: text }) => {
            const line = JSON.parse(text);
            if (line === 'done') {
                resolve();
            } else if ('error' in line) {
                reject(new Error(line.error));
            } else {
                take(line);
            }
        });
        worker.addEventListener('error', event => reject(new Error(event.message)));
        signal.addEventListener('abort', () => reject(signal.reason));
    });
    worker.postMessage({ module, request: JSON.stringify(request) });
    return answered.finally(() => worker.terminate());
}
