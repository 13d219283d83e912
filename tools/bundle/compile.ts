/** How the bundle is compiled: the same when it is built and when it runs, or the compiled code would not fit. */
import { constants, Script } from 'node:vm';

export interface CompiledBundle {
  readonly script: Script;
  run(require: NodeJS.Require): void;
}

/** `code` must be plain ASCII: then a character is a byte, and V8 keeps it as such. */
export function compileBundle(code: string, path: string, cachedData: Uint8Array | undefined): CompiledBundle {
  const source = `(function (require) {${code}\n})`;
  const script = new Script(source, {
    filename: path,
    // What is loaded when it is first needed, such as the profiler, comes by import().
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  return { script, run: (require) => script.runInThisContext()(require) };
}
