import { type Answer, type Event, type EventOf, type Recorded, unreachable } from '@holdfast/protocol'

/** Returns the answer to a command: a function of the first record it wrote, so that a retry gets the same answer. */
export const answerOf = ({ seq, event }: Recorded): Answer => ({ seq, result: resultOf(event) })

function resultOf(event: Event): Answer['result'] {
  switch (event.type) {
    case 'prompt.queued':
      return { queued: event.queue }
    case 'queue.removed':
      return event.recalled ? { entries: event.entries } : {}
    case 'settings.changed':
      return settingsResult(event)
    case 'line.moved':
      return { branch: event.why === 'switch' ? event.name : event.keep.name }
    case 'session.forked':
      return { session: event.fork }
    case 'message.pinned':
      return { pinned: event.pinned }
    case 'message.collapsed':
      return { collapsed: event.collapsed }
    case 'checkpoint.written':
      return { summary: event.summary, tokensBefore: event.tokensBefore, tokensAfter: event.tokensAfter }
    case 'checkpoint.undone':
      return { tokens: event.tokens }
    case 'summary.saved':
      return { text: event.text, path: event.path }
    case 'session.started':
    case 'context.changed':
    case 'queue.edited':
    case 'queue.reordered':
    case 'user.said':
    case 'message.given':
    case 'turn.started':
    case 'turn.ended':
    case 'step.started':
    case 'step.ended':
    case 'thinking.said':
    case 'text.said':
    case 'call.requested':
    case 'approval.asked':
    case 'call.approved':
    case 'call.started':
    case 'call.settled':
    case 'note.added':
    case 'trust.granted':
    case 'trust.revoked':
    case 'client.said':
    case 'log.repaired':
      return {}
    default:
      return unreachable(event)
  }
}

type Setting = Exclude<keyof EventOf<'settings.changed'>, 'type'>

/** Whether an answer repeats a setting. The model is repeated only by `cycleModel`, whose client does not know it. */
const isRepeated: Readonly<Record<Setting, boolean>> = {
  thinkingLevel: true,
  pinned: true,
  title: true,
  workdir: true,
  model: false,
  cycled: false,
  mode: false,
  budgets: false,
  approvals: false,
  permissions: false,
  approvalTimeoutMs: false,
  named: false,
}
const repeated = (Object.keys(isRepeated) as Setting[]).filter((name) => isRepeated[name])

function settingsResult(event: EventOf<'settings.changed'>): Answer['result'] {
  const { cycled, model } = event
  const changed = repeated.flatMap((name) => (event[name] === undefined ? [] : [[name, event[name]]]))
  return { ...(cycled && { model, ...cycled }), ...Object.fromEntries(changed) }
}
