import type { CommandInput, CommandType } from '@holdfast/protocol'

/** One of each command; none speaks of anything that is there. */
export const eachCommand: { readonly [Type in CommandType]: Extract<CommandInput, { type: Type }> } = {
  sendPrompt: { type: 'sendPrompt', content: 'hello' },
  queueSteering: { type: 'queueSteering', content: 'hello' },
  queueFollowUp: { type: 'queueFollowUp', content: 'hello' },
  recallQueues: { type: 'recallQueues' },
  clearQueues: { type: 'clearQueues' },
  dequeueSteering: { type: 'dequeueSteering' },
  editQueueEntry: { type: 'editQueueEntry', entry: 99, content: 'else' },
  removeQueueEntry: { type: 'removeQueueEntry', entry: 99 },
  reorderQueue: { type: 'reorderQueue', queue: 'steering', entries: [99] },
  respondToApproval: { type: 'respondToApproval', decision: 'approve' },
  setToolTrust: { type: 'setToolTrust', tool: 'shell', scope: 'session' },
  revokeToolTrust: { type: 'revokeToolTrust', tool: 'all' },
  abort: { type: 'abort' },
  continue: { type: 'continue' },
  enterPlan: { type: 'enterPlan' },
  enterExec: { type: 'enterExec' },
  setBudgets: { type: 'setBudgets', budgets: { maxSteps: 5 } },
  claimDriver: { type: 'claimDriver' },
  handOver: { type: 'handOver', client: 'tui' },
}
