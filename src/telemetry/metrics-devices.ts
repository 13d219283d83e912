/** Device plugins, and requests to the pod-resources API. */
import type { Metrics } from './metrics.ts';

export interface DeviceMetrics {
  registration(resource: string): void;
  /** A plugin has answered an Allocate. */
  allocated(resource: string, seconds: number): void;
}

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createDeviceMetrics(metrics: Metrics): DeviceMetrics {
  const labels = ['resource_name'];
  const registrations = metrics.counter({
    name: 'kubelet_device_plugin_registration_total',
    help: 'Cumulative number of device plugin registrations. Broken down by resource name.',
    labels,
  });
  const duration = metrics.histogram({
    name: 'kubelet_device_plugin_alloc_duration_seconds',
    help: 'Duration in seconds to serve a device plugin Allocation request. Broken down by resource name.',
    labels,
    buckets: BUCKETS,
  });
  return {
    registration: (resource) => registrations.add(1, [resource]),
    allocated: (resource, seconds) => duration.observe(seconds, [resource]),
  };
}

export type PodResourcesMethod = 'list' | 'get_allocatable' | 'get';

export interface PodResourcesMetrics {
  /** `v1` counts by method as well. */
  requested(version: 'v1' | 'v1alpha1', method: PodResourcesMethod): void;
  failed(method: PodResourcesMethod): void;
}

const METHODS: readonly (readonly [PodResourcesMethod, string])[] = [
  ['list', 'List'],
  ['get_allocatable', 'GetAllocatableResources'],
  ['get', 'Get'],
];

export function createPodResourcesMetrics(metrics: Metrics): PodResourcesMetrics {
  const labels = ['server_api_version'];
  const broken = 'Broken down by server api version.';
  const total = metrics.counter({
    name: 'kubelet_pod_resources_endpoint_requests_total',
    help: `Cumulative number of requests to the PodResource endpoint. ${broken}`,
    labels,
  });
  const counters = (kind: 'requests' | 'errors', what: string) =>
    new Map(
      METHODS.map(([method, title]) => [
        method,
        metrics.counter({
          name: `kubelet_pod_resources_endpoint_${kind}_${method}`,
          help: `Number of requests to the PodResource ${title} endpoint${what}. ${broken}`,
          labels,
        }),
      ]),
    );
  const requests = counters('requests', '');
  const errors = counters('errors', ' which returned error');
  return {
    requested: (version, method) => {
      total.add(1, [version]);
      if (version === 'v1') requests.get(method)?.add(1, [version]);
    },
    failed: (method) => errors.get(method)?.add(1, ['v1']),
  };
}
