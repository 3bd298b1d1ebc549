// run-wasm.mjs: what run-wasm gives to node. Paths are looked up as they are on this machine, relative ones from here.
import { readFile } from 'node:fs/promises';
import process, { argv, cwd } from 'node:process';
import { WASI } from 'node:wasi';

const wasi = new WASI({ version: 'preview1', args: argv.slice(2), env: {}, preopens: { '/': '/', '.': cwd() }, returnOnExit: true });
const program = await WebAssembly.compile(await readFile(argv[2]));
const instance = await WebAssembly.instantiate(program, { wasi_snapshot_preview1: wasi.wasiImport });
// Not process.exit(): node would end while its compiler still works on the program in the background.
process.exitCode = wasi.start(instance);
