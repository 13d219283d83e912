/** An explanation as lines for a terminal. */
import type { ExplainedPod, ExplainedStep } from '../../model/explanation.ts';
import { describeStep } from '../../plan/blocking.ts';

export function explainText(answer: ExplainedPod, now: number): string {
  const { pod, summary, steps } = answer;
  const lines = steps.map((step) => `  ${MARKS[step.state.kind]} ${describeStep(step, { now })}`);
  return [`${pod.namespace}/${pod.name}: ${summary}`, '', ...lines, ''].join('\n');
}

const MARKS: Readonly<Record<ExplainedStep['state']['kind'], string>> = {
  done: '+',
  'under-way': '~',
  waiting: '-',
  refused: 'x',
};
