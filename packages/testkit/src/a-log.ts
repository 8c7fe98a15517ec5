import { emptySession, evolve, type Input, type SessionState } from '@holdfast/core'
import { BlobHash, type Recorded, SessionId } from '@holdfast/protocol'
import { aRecord, type Given } from './a-record.ts'

export const aSession = SessionId.parse('ses_01k9xyzabcdefghjkmnpqrstvw')
export const anInstant = '2026-01-02T03:04:05.678Z'
export const aHash = 'a'.repeat(64)

export const started: Given = {
  type: 'session.started',
  handle: 'calm-harbor-12',
  workdir: '/work',
  settings: { model: 'sim/model', thinkingLevel: 'off', mode: 'exec', budgets: {} },
}

/** Numbered from `from`, as a log would. */
export const recordsOf = (given: readonly Given[], from = 1): readonly Recorded[] =>
  given.map((one, index) => aRecord(from + index, one, { at: anInstant }))

/** The state of a session that was started (seq 1) and then lived through `given` (seq 2 and on). */
export const after = (...given: readonly Given[]): SessionState =>
  recordsOf([started, ...given]).reduce(evolve, emptySession())

export const said = (text: string): Given & { type: 'user.said' } => ({
  type: 'user.said',
  turn: 0,
  content: [{ type: 'text', text }],
})

/** Seq 2 to 4: a prompt, up to the step (seq 5 is the first word of the answer). */
export const thinking: readonly Given[] = [
  { type: 'turn.started', turn: 0, cause: 'prompt' },
  said('list the files'),
  { type: 'step.started', turn: 0, model: 'sim/model', thinkingLevel: 'off', attempt: 1 },
]

export const callOf = (tool: string): Given => ({
  type: 'call.requested',
  turn: 0,
  step: 4,
  tool,
  args: { path: '.' },
  provider: 'sim',
})
export const stepEnded: Given = { type: 'step.ended', turn: 0, step: 4, finish: 'calls', usage: null }

/** Seq 2 to 6: a call (seq 5) was asked for and nothing is known of it yet. */
export const requested: readonly Given[] = [...thinking, callOf('shell'), stepEnded]

type CallFacts = Extract<Input, { type: 'tool.starting' }>['facts']

/** A call that changes something, of which a test changes what it is about. */
export const factsFor = (tool: string, changes: Partial<CallFacts> = {}): CallFacts => ({
  tool,
  target: null,
  isDestructive: true,
  isReadOnly: false,
  argsHash: BlobHash.parse(aHash),
  workspaceTrust: [],
  ...changes,
})

/** A prompt that waits. */
export const queued = (queue: 'steering' | 'follow_up', text = 'wait'): Given => ({
  type: 'prompt.queued',
  queue,
  content: [{ type: 'text', text }],
})

const preview = { type: 'command', command: 'ls', cwd: '/work' } as const
export const askedFor = (call: number, changes: Partial<Given & { type: 'approval.asked' }> = {}): Given => ({
  type: 'approval.asked',
  call,
  tool: 'shell',
  argsHash: aHash,
  preview,
  ...changes,
})
export const approvedBy = (call: number, client: string | null = 'tui'): Given => ({
  type: 'call.approved',
  call,
  argsHash: aHash,
  by: { client },
  scope: 'once',
})
export const settled = (call: number, text = 'a.txt'): Given => ({
  type: 'call.settled',
  call,
  outcome: { type: 'ok', output: { text } },
  durationMs: 5,
})
export const turnEnded = (reason: 'done' | 'aborted' | 'failed' | 'interrupted' | 'limit'): Given => ({
  type: 'turn.ended',
  turn: 0,
  reason,
})

/** A move to another line; what it leaves is kept as `branch-1`. */
export const aMove = (changes: Partial<Given & { type: 'line.moved' }> = {}): Given & { type: 'line.moved' } => ({
  type: 'line.moved',
  to: [{ from: 1, to: null }],
  turns: 0,
  messages: 0,
  tokens: 0,
  last: null,
  checkpoint: null,
  keep: { name: 'branch-1', turns: 1, messages: 2 },
  name: null,
  why: 'branch',
  ...changes,
})

export const aCheckpoint = (
  changes: Partial<Given & { type: 'checkpoint.written' }> = {},
): Given & { type: 'checkpoint.written' } => ({
  type: 'checkpoint.written',
  turn: 0,
  summary: 'They met.',
  keepFrom: 1,
  tokensBefore: 100,
  tokensAfter: 10,
  why: 'asked',
  ...changes,
})
