/** The metrics of `/metrics/cadvisor` that are about the machine, and about the collector itself. */
import { coreCount, type Machine, processorsOf, socketCount } from '../../model/machine.ts';
import type { MetricFamily } from './resource-metrics.ts';

export function computeMachineMetrics(machine: Machine, hasNode: boolean): readonly MetricFamily[] {
  const labels = [
    ['boot_id', machine.bootId],
    ['machine_id', machine.machineId],
    ['system_uuid', machine.systemUuid],
  ] as const;
  const [boot, id, uuid] = labels;
  const gauge = (name: string, help: string, value: number): MetricFamily => ({
    name,
    help,
    type: 'gauge',
    samples: [{ labels, value }],
  });
  const alone = (name: string, help: string, value: number): MetricFamily => ({
    ...gauge(name, help, value),
    samples: [{ labels: [], value }],
  });
  return [
    versionInfo(machine),
    alone(
      'container_scrape_error',
      '1 if there was an error while getting container metrics, 0 otherwise',
      hasNode ? 0 : 1,
    ),
    // Books and drawers are mainframes' words for sockets of sockets.
    gauge('machine_cpu_books', 'Number of CPU books.', 0),
    gauge('machine_cpu_cores', 'Number of logical CPU cores.', processorsOf(machine).length),
    gauge('machine_cpu_drawers', 'Number of CPU drawers.', 0),
    gauge('machine_cpu_physical_cores', 'Number of physical CPU cores.', coreCount(machine)),
    gauge('machine_cpu_sockets', 'Number of CPU sockets.', socketCount(machine)),
    gauge('machine_memory_bytes', 'Amount of memory installed on the machine.', machine.memoryBytes),
    // Memory that keeps its content without power is counted by a library of its vendor, which the reference is not built with.
    gauge('machine_nvm_avg_power_budget_watts', 'NVM power budget.', 0),
    {
      ...gauge('machine_nvm_capacity', 'NVM capacity value labeled by NVM mode (memory mode or app direct mode).', 0),
      samples: ['app_direct_mode', 'memory_mode'].map((mode) => ({
        labels: [boot, id, ['mode', mode], uuid],
        value: 0,
      })),
    },
    alone('machine_scrape_error', '1 if there was an error while getting machine metrics, 0 otherwise.', 0),
    gauge('machine_swap_bytes', 'Amount of swap memory available on the machine.', machine.swapBytes),
  ];
}

function versionInfo({ kernelVersion, osImage }: Machine): MetricFamily {
  return {
    name: 'cadvisor_version_info',
    help: "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & cadvisor revision.",
    type: 'gauge',
    samples: [
      {
        labels: [
          ['cadvisorRevision', ''],
          ['cadvisorVersion', ''],
          ['dockerVersion', ''],
          ['kernelVersion', kernelVersion],
          ['osVersion', osImage],
        ],
        value: 1,
      },
    ],
  };
}
