import type { Event, EventType } from '@holdfast/protocol'
import type { z } from 'zod'

const hash = 'a'.repeat(64)
const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: null }
const text = [{ type: 'text' as const, text: 'hello' }]
const file = { type: 'file' as const, blob: hash, mediaType: 'image/png', name: 'a.png', bytes: 3 }
const span = { from: 1, to: null }
const said = {
  turn: 0,
  step: 4,
  text: 'words',
  provider: 'sim',
  meta: { sim: { signature: 's' } },
  interrupted: true,
} as const

/** One of each event, with every field it can have: what is written down can be read back. */
export const oneOfEach: { readonly [Type in EventType]: Extract<z.input<typeof Event>, { type: Type }> } = {
  'session.started': {
    type: 'session.started',
    handle: 'calm-harbor-12',
    key: 'telegram:4711',
    workdir: '/work',
    settings: {
      model: 'sim/model',
      thinkingLevel: 'high',
      mode: 'plan',
      title: 'A title',
      budgets: { maxSteps: 3, maxTokens: 9, maxCost: 0.5 },
      approvals: 'all',
      permissions: [{ tool: 'shell', pattern: 'git *', verdict: 'allow' }],
      approvalTimeoutMs: 1000,
    },
    tools: ['look'],
    instructions: 'Be brief.',
    providerOptions: { sim: { temperature: 0 } },
    background: true,
    parent: 'ses_01k9xyzabcdefghjkmnpqrstvx',
    fork: { lineage: [{ session: 'ses_01k9xyzabcdefghjkmnpqrstvw', upTo: 4 }], line: [span], turns: 1, checkpoint: 3 },
  },
  'settings.changed': {
    type: 'settings.changed',
    model: 'sim/other',
    thinkingLevel: 'low',
    mode: 'exec',
    title: 'B',
    budgets: {},
  },
  'context.changed': { type: 'context.changed', system: hash, tools: hash },
  'prompt.queued': { type: 'prompt.queued', queue: 'follow_up', content: [...text, file] },
  'queue.edited': { type: 'queue.edited', entry: 5, content: [...text, file] },
  'queue.removed': {
    type: 'queue.removed',
    entries: [{ id: 5, queue: 'steering', content: [...text, file] }],
    recalled: true,
  },
  'queue.reordered': { type: 'queue.reordered', queue: 'follow_up', entries: [6, 5] },
  'user.said': { type: 'user.said', turn: 0, content: [...text, file], entry: 2 },
  'turn.started': { type: 'turn.started', turn: 0, cause: 'continue' },
  'turn.ended': {
    type: 'turn.ended',
    turn: 0,
    reason: 'failed',
    fault: { kind: 'unreachable', message: 'gone', detail: 'x' },
  },
  'step.started': { type: 'step.started', turn: 0, model: 'sim/model', thinkingLevel: 'off', attempt: 1 },
  'thinking.said': { type: 'thinking.said', ...said },
  'text.said': { type: 'text.said', ...said },
  'call.requested': {
    type: 'call.requested',
    turn: 0,
    step: 4,
    tool: 'shell',
    args: { a: [1, null] },
    provider: 'sim',
    meta: {},
    malformed: 'no',
  },
  'step.ended': {
    type: 'step.ended',
    turn: 0,
    step: 4,
    finish: 'failed',
    usage,
    fault: { kind: 'raw_dump', message: 'x' },
  },
  'approval.asked': {
    type: 'approval.asked',
    call: 5,
    tool: 'shell',
    argsHash: hash,
    preview: { type: 'diff', path: 'a', diff: '+' },
    expiresAt: '2026-01-02T03:04:05.678Z',
  },
  'call.approved': { type: 'call.approved', call: 5, argsHash: hash, by: { rule: 'not destructive' }, scope: 'once' },
  'call.started': { type: 'call.started', call: 5, process: { group: 42, startedAt: 'boot:1' } },
  'call.settled': {
    type: 'call.settled',
    call: 5,
    outcome: { type: 'interrupted', code: 'aborted', output: { text: 'half', blob: { hash, bytes: 9 } } },
    durationMs: 3,
    by: { client: 'tui' },
    files: [{ path: 'a', change: 'modified' }],
  },
  'note.added': { type: 'note.added', turn: 0, kind: 'notice', level: 'error', code: 'x', text: 'note' },
  'line.moved': { type: 'line.moved', to: [{ from: 1, to: 2 }, span], turns: 1, why: 'branch' },
  'checkpoint.written': {
    type: 'checkpoint.written',
    turn: 0,
    summary: 's',
    keepFrom: 1,
    tokensBefore: 9,
    tokensAfter: 1,
  },
  'trust.granted': { type: 'trust.granted', tool: 'shell', scope: 'workspace', argsHash: hash },
  'trust.revoked': { type: 'trust.revoked', tool: null },
  'message.pinned': { type: 'message.pinned', message: 7, pinned: true },
  'log.repaired': { type: 'log.repaired', lost: [3] },
}
