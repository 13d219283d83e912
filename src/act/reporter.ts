import type { Pod } from '../api/pod.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { ReportStep } from '../model/step.ts';
import { eventsOf } from './rules/events.ts';

/** Passes on what is reported of a pod's steps, and records the events that follow from it. */
export function createReporter(record: RecordPodEvent, pod: Pod, onStep: ReportStep): ReportStep {
  return (report) => {
    for (const event of eventsOf(pod, report)) record(event);
    onStep(report);
  };
}
