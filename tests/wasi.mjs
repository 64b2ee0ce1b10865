// Runs a WASI program under Node: node tests/wasi.mjs PROGRAM [ARGUMENT..]. It sees the variables NIMLANES_* and no files but those
// below the working directory.
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { WASI } from 'node:wasi';

const [program, ...rest] = process.argv.slice(2);
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('NIMLANES_')));
const wasi = new WASI({ version: 'preview1', args: [program, ...rest], env, preopens: { '.': '.' } });
const module = await WebAssembly.compile(await readFile(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
