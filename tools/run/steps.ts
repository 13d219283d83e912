/** Shows a person what is going on: each step when it begins, and how long it took when it is done. */
export interface StepOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface Steps {
  /** Ends the step before it and begins this one. */
  begin(name: string): void;
  /** Ends the last step. */
  done(): void;
  /** The step did not work out: what follows is an error message. */
  fail(): void;
  line(text?: string): void;
}

const CLEAR_LINE = '\r\u001b[K';

export function createSteps(output: StepOutput, mono: () => number): Steps {
  const tty = output.isTTY === true;
  let current: { readonly name: string; readonly begun: number } | undefined;
  const end = (mark: string) => {
    if (current === undefined) return;
    const seconds = ((mono() - current.begun) / 1000).toFixed(1);
    output.write(`${tty ? CLEAR_LINE : ''}${mark} ${current.name} (${seconds} s)\n`);
    current = undefined;
  };
  return {
    begin: (name) => {
      end('✓');
      current = { name, begun: mono() };
      // Where a line can't be rewritten, only what is done gets one.
      if (tty) output.write(`… ${name}`);
    },
    done: () => end('✓'),
    fail: () => end('✗'),
    line: (text = '') => {
      end('✓');
      output.write(`${text}\n`);
    },
  };
}
