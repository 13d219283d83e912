/** Plans as short lines, so that a table of cases can be read. */
import type { Action } from '../../src/model/plan.ts';

export function describe(action: Action): string {
  switch (action.kind) {
    case 'sandbox-create':
      return `create sandbox ${action.attempt}`;
    case 'sandbox-stop':
      return `stop sandbox ${action.id}`;
    case 'sandbox-remove':
      return `remove sandbox ${action.id}`;
    case 'pod-resize':
      return `resize ${action.containers.map(({ name }) => name).join(' ')}`.trim();
    case 'container-start':
      return `start ${action.role} ${action.name}#${action.attempt}`;
    case 'container-remove':
      return `remove ${action.id}`;
    case 'container-stop': {
      const after = action.after === undefined ? '' : ` after ${action.after.join(' ')}`;
      return `stop ${action.id} (${action.message}; ${action.reason}; ${action.graceSeconds} s)${after}`;
    }
  }
}
