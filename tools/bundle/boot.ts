/**
 * What Node runs first, in both forms of the kubelet: it compiles the bundle with the compiled code that was shipped beside it. Code that V8 refuses (another Node,
 * other flags) costs only time: the bundle is then compiled as usual.
 */
// First: what follows needs a Node that can run it.
import './node-needed.ts';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { getAsset, getRawAsset, isSea } from 'node:sea';
import { compileBundle } from './compile.ts';

const BUNDLE = 'kubelet.cjs';
const CODE_CACHE = 'kubelet.code-cache';

interface Shipped {
  /** The name that stack traces show. */
  readonly path: string;
  readonly code: string;
  readonly compiled: Uint8Array | undefined;
}

function shippedInside(): Shipped {
  return {
    path: join(dirname(process.execPath), BUNDLE),
    code: getAsset(BUNDLE, 'latin1'),
    compiled: new Uint8Array(getRawAsset(CODE_CACHE)),
  };
}

function shippedBeside(directory: string): Shipped {
  const path = join(directory, BUNDLE);
  return { path, code: readFileSync(path, 'latin1'), compiled: readIfThere(join(directory, CODE_CACHE)) };
}

function readIfThere(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const { path, code, compiled } = isSea() ? shippedInside() : shippedBeside(__dirname);
compileBundle(code, path, compiled).run(createRequire(path));
