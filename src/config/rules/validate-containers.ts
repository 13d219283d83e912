import { formatDuration } from '../../api/duration.ts';
import { type Findings, problem, warning } from './finding.ts';
import { sysctlPatternFault } from './sysctl-pattern.ts';
import type { ValidationInput } from './validation-input.ts';

const usualQuotaPeriod = 100;

/** Settings of containers and their runtime. */
export function* validateContainers(input: ValidationInput): Findings {
  const { kubelet } = input;
  if (kubelet.containerRuntimeEndpoint === '') {
    yield problem('containerRuntimeEndpoint', '', 'must be set, for example unix:///run/containerd/containerd.sock');
  } else {
    yield* validateEndpoint('containerRuntimeEndpoint', kubelet.containerRuntimeEndpoint);
  }
  yield* validateEndpoint('imageServiceEndpoint', kubelet.imageServiceEndpoint);
  yield* validateQuotaPeriod(input);
  yield* validateCrashLoop(input);
  for (const [index, pattern] of kubelet.allowedUnsafeSysctls.entries()) {
    const fault = sysctlPatternFault(pattern);
    if (fault !== undefined) yield problem(`allowedUnsafeSysctls[${index}]`, pattern, fault);
  }
}

function* validateEndpoint(path: string, endpoint: string): Findings {
  if (endpoint === '') return;
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(endpoint)?.[1];
  if (scheme === undefined) yield warning(path, endpoint, `should be written as a URL: unix://${endpoint}`);
  else if (scheme.toLowerCase() !== 'unix')
    yield problem(path, endpoint, 'must be a Unix socket: unix:///path/to/socket');
}

function* validateQuotaPeriod({ kubelet, features }: ValidationInput): Findings {
  const period = kubelet.cpuCFSQuotaPeriod;
  if (!features.enabled('CustomCPUCFSQuotaPeriod')) {
    if (period !== usualQuotaPeriod) {
      const rule = `must be ${formatDuration(usualQuotaPeriod)} without the feature gate CustomCPUCFSQuotaPeriod`;
      yield problem('cpuCFSQuotaPeriod', formatDuration(period), rule);
    }
  } else if (period < 1 || period > 1000) {
    yield problem('cpuCFSQuotaPeriod', formatDuration(period), 'must be between 1ms and 1s');
  }
}

function* validateCrashLoop({ kubelet, features }: ValidationInput): Findings {
  const path = 'crashLoopBackOff.maxContainerRestartPeriod';
  const period = kubelet.crashLoopBackOff.maxContainerRestartPeriod;
  if (!features.enabled('KubeletCrashLoopBackOffMax')) {
    if (period !== undefined) {
      yield problem(
        path,
        formatDuration(period),
        'must not be set without the feature gate KubeletCrashLoopBackOffMax',
      );
    }
  } else if (period === undefined) {
    yield problem(path, undefined, 'must be set with the feature gate KubeletCrashLoopBackOffMax');
  } else if (period < 1000 || period >= 300_001) {
    // Whole milliseconds count: the reference truncates the rest.
    yield problem(path, formatDuration(period), 'must be between 1s and 300s');
  }
}
