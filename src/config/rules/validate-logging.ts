import { formatDuration } from '../../api/duration.ts';
import { parseQuantity, quantityValue } from '../../api/quantity.ts';
import { type Findings, oneOf, problem, warning } from './finding.ts';
import type { ValidationInput } from './validation-input.ts';

const highestVerbosity = 2 ** 31 - 1;
/** The largest quantity with a binary suffix: larger values are reduced to it. */
const largestSize = 2n ** 63n - 1n;

/** The kubelet's own log. */
export function* validateLogging({ kubelet, features }: ValidationInput): Findings {
  const { format, flushFrequency, verbosity, vmodule, options } = kubelet.logging;
  yield* oneOf('logging.format', format, ['text', 'json']);
  if (flushFrequency <= 0) {
    yield problem('logging.flushFrequency', formatDuration(flushFrequency), 'must be greater than zero');
  }
  if (verbosity > highestVerbosity)
    yield problem('logging.verbosity', verbosity, `must be at most ${highestVerbosity}`);
  if (vmodule.length > 0 && format !== 'text') {
    yield problem('logging.vmodule', vmodule, 'works with the format "text" only');
  }
  for (const [index, { filePattern, verbosity: level }] of vmodule.entries()) {
    const path = `logging.vmodule[${index}]`;
    if (filePattern === '') yield problem(`${path}.filePattern`, filePattern, 'must not be empty');
    if (/[=,]/.test(filePattern)) yield problem(`${path}.filePattern`, filePattern, "must not contain '=' or ','");
    if (level > highestVerbosity) yield problem(`${path}.verbosity`, level, `must be at most ${highestVerbosity}`);
  }
  const rule = 'needs the feature gate LoggingAlphaOptions';
  const isAllowed = features.enabled('LoggingAlphaOptions');
  for (const name of ['text', 'json'] as const) {
    const { splitStream, infoBufferSize } = options[name];
    const path = `logging.options.${name}`;
    const size = parseQuantity(infoBufferSize === '' ? '0' : infoBufferSize);
    if (!size.ok) yield problem(`${path}.infoBufferSize`, infoBufferSize, 'must be a quantity such as 64Ki');
    else if (quantityValue(size.value) !== 0n && !isAllowed)
      yield problem(`${path}.infoBufferSize`, infoBufferSize, rule);
    if (splitStream && !isAllowed) yield problem(`${path}.splitStream`, splitStream, rule);
  }
}

/** Settings of the logs of containers and of the system. */
export function* validateLogFiles({ kubelet, features }: ValidationInput): Findings {
  yield* validateLogSize(kubelet.containerLogMaxSize);
  yield* validatePodLogsDir(kubelet.podLogsDir);
  if (!kubelet.enableSystemLogQuery) return;
  if (!features.enabled('NodeLogQuery')) {
    yield problem('enableSystemLogQuery', true, 'needs the feature gate NodeLogQuery');
  }
  if (!kubelet.enableSystemLogHandler) {
    yield problem('enableSystemLogQuery', true, 'needs enableSystemLogHandler: true');
  }
}

function* validateLogSize(text: string): Findings {
  const size = parseQuantity(text);
  const isWhole = size.ok && size.value.nanos % 1_000_000_000n === 0n;
  if (!size.ok || !isWhole || quantityValue(size.value) >= largestSize) {
    yield problem('containerLogMaxSize', text, 'must be a whole number of bytes such as 10Mi');
  } else if (size.value.nanos < 0n) {
    yield warning('containerLogMaxSize', text, 'a negative size turns log rotation off');
  }
}

function* validatePodLogsDir(path: string): Findings {
  if (!path.startsWith('/')) {
    yield problem('podLogsDir', path, 'must be an absolute path');
    return;
  }
  if (normalizePath(path) !== path) {
    yield problem('podLogsDir', path, `must be in its shortest form (${normalizePath(path)})`);
  }
  // The path is a label of metrics.
  if ([...path].some((char) => (char.codePointAt(0) ?? 0) > 0x7f)) {
    yield problem('podLogsDir', path, 'must consist of ASCII characters');
  }
}

/** An absolute path without `.`, `..`, doubled or trailing slashes. */
function normalizePath(path: string): string {
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') kept.pop();
    else if (part !== '' && part !== '.') kept.push(part);
  }
  return `/${kept.join('/')}`;
}
