import { parseQuantity, quantityValue } from '../api/quantity.ts';
import type { LogSettings } from './log.ts';
import type { ModuleLevel } from './vmodule.ts';

/** The `logging` part of the configuration, as far as the log needs it. */
export interface LoggingConfiguration {
  readonly format: string;
  readonly verbosity: number;
  readonly vmodule: readonly ModuleLevel[];
  readonly options: { readonly text: StreamOptions; readonly json: StreamOptions };
}

interface StreamOptions {
  readonly splitStream: boolean;
  readonly infoBufferSize: string;
}

/** A larger buffer than this only delays lines. */
const LARGEST_BUFFER = 2 ** 31;

export function logSettings(logging: LoggingConfiguration): LogSettings {
  const format = logging.format === 'json' ? 'json' : 'text';
  const { splitStream, infoBufferSize } = logging.options[format];
  return {
    format,
    splitStream,
    infoBufferSize: bytesOf(infoBufferSize),
    verbosity: logging.verbosity,
    modules: logging.vmodule,
  };
}

function bytesOf(quantity: string): number {
  const parsed = parseQuantity(quantity);
  if (!parsed.ok) return 0;
  return Math.min(Number(quantityValue(parsed.value)), LARGEST_BUFFER);
}
