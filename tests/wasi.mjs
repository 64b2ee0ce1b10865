// Runs a WASI program under Node: node tests/wasi.mjs PROGRAM [ARGUMENT..]. It sees the variables NIMLANES_* and no files but those
// below the working directory.
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { WASI } from 'node:wasi';

const [program, ...rest] = process.argv.slice(2);
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('NIMLANES_')));
const wasi = new WASI({ version: 'preview1', args: [program, ...rest], env, preopens: { '.': '.' } });
const imports = wasi.getImportObject();
const calls = imports.wasi_snapshot_preview1;

// Node 20 crashes some time after V8 has called these from WebAssembly without JavaScript between them.
for (const [name, call] of Object.entries(calls)) calls[name] = (...from) => call(...from);

// Node does not wait for what comes through a pipe, but Rust expects a read to wait.
const { fd_read: read } = calls;
const [NOT_YET, never] = [6, new Int32Array(new SharedArrayBuffer(4))];
calls.fd_read = (...from) => {
  let error;
  while ((error = read(...from)) === NOT_YET) Atomics.wait(never, 0, 0, 1);
  return error;
};

const module = await WebAssembly.compile(await readFile(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, imports));
