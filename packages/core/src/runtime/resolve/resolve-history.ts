import {
  type BranchName,
  clip,
  clipLine,
  countedMessageEvents,
  type EventOf,
  eventTokens,
  fault,
  firstLine,
  type HistoryCommand,
  invariant,
  isCountedMessage,
  isMessageEvent,
  isOnLine,
  limits,
  MessageId,
  noWorkdir,
  ok,
  type Payer,
  type Result,
  refuse,
  type Submission,
  textOf,
  textTokens,
  unreachable,
} from '@holdfast/protocol'
import { summaryFileRequest } from '../../context/text-request.ts'
import { isWindowEvent, messageTokens } from '../../context/window.ts'
import { findBranch } from '../../session/decide/line.ts'
import { turnRunning, workdirNeeded } from '../../session/decide/prompt.ts'
import type { Facts } from '../../session/facts.ts'
import { modelNow, type Pin } from '../../session/state.ts'
import type { EffectDeps } from '../dependencies.ts'
import { writeCheckpoint } from '../effects/compaction.ts'
import { writeSummary } from '../effects/write-text.ts'
import { planRestoring } from '../files/restore-files.ts'
import { findCap } from '../find-cap.ts'
import { findLastEnd, findTurnEnd } from '../log/find-turn-end.ts'
import { readWindow } from '../log/read-window.ts'
import { type Spans, type WalkOptions, walkLine } from '../log/walk-line.ts'
import { filesOf, refuseSeeds } from './check-files.ts'
import { vetoed } from './submit-to-hooks.ts'

/** Looks up what a history command needs, and writes the summaries it asks for, before it is decided. */
export async function resolveHistory(
  deps: EffectDeps,
  command: HistoryCommand,
  commandId: Submission['commandId'],
  payer: Payer,
): Promise<Result<Facts>> {
  switch (command.type) {
    case 'branchAt':
    case 'rewind': {
      const facts = await turnFacts(deps, command.turn)
      if (!facts.end) return ok(facts)
      const recent = await recentTexts(deps, clipLine(deps.state().line, 0, facts.end.seq))
      return ok({ ...facts, shown: { recent } })
    }
    case 'fork':
      return ok({ ...(await turnFacts(deps, command.at)), fork: deps.newSessionId() })
    case 'truncateHistory': {
      const facts = await tailFacts(deps, command)
      const from = facts.keepFrom?.seq ?? deps.state().seq + 1
      const recent = await recentTexts(deps, clipLine(deps.state().line, from, deps.state().seq))
      return ok({ ...facts, shown: { recent } })
    }
    case 'togglePin':
    case 'toggleToolCollapse':
      return ok({ ...(await messageFacts(deps, command.message)), contextTokens: contextTokensOf(deps) })
    case 'toggleAllToolCollapses':
      return ok({ isAnyCollapsed: await isAnyCollapsed(deps) })
    case 'appendCheckpoint': {
      const refusal = await refuseSeeds(filesOf(deps), command.messages)
      return refusal ? refuse(refusal) : ok({ windowTokens: await windowTokens(deps) })
    }
    case 'undoCompaction':
      return ok({ contextTokens: contextTokensOf(deps) })
    case 'compact':
      return (await settledBefore(deps, commandId)) ?? (await refuseCapped(deps, payer)) ?? compactFacts(deps)
    case 'summarize': {
      const settled = (await settledBefore(deps, commandId)) ?? (await refuseCapped(deps, payer))
      if (settled) return settled
      const saved = await writeSummaryFile(deps, deps.sideWorkSignal())
      return saved.ok ? ok(saved.value ? { saved: saved.value } : {}) : saved
    }
    case 'restoreFiles': {
      const settled = await settledBefore(deps, commandId)
      if (settled) return settled
      const planned = await planRestoring(deps, command, deps.sideWorkSignal())
      return planned.ok ? ok({ restoring: planned.value }) : planned
    }
    case 'setHistory': {
      const refusal = await refuseSeeds(filesOf(deps), command.messages)
      return refusal ? refuse(refusal) : ok(await summaryFacts(deps))
    }
    case 'switchBranch':
      return ok(await branchFacts(deps, command.branch))
    case 'seedMessages': {
      const refusal = await refuseSeeds(filesOf(deps), command.messages)
      return refusal ? refuse(refusal) : ok({})
    }
    case 'addSystemMessage':
    case 'setSummary':
      return ok({})
    default:
      return unreachable(command)
  }
}

/** Refuses a command that calls a model while a cap is reached; null if it may. */
async function refuseCapped(deps: EffectDeps, payer: Payer): Promise<Result<never> | null> {
  const workspace = deps.state().origin?.workdir ?? noWorkdir
  const capped = await findCap(deps, { payer, workspace, model: deps.compactionModel ?? modelNow(deps.state()) })
  return capped && refuse(capped)
}

/** Returns the context size of the session's model. */
function contextTokensOf({ models, state }: Pick<EffectDeps, 'models' | 'state'>): number {
  const model = models.find(state().settings.model)
  return (model.type === 'ready' ? model.contextTokens : undefined) ?? limits.contextTokens
}

async function windowTokens({ store, session, state }: EffectDeps): Promise<number> {
  const { summary, prompt, pinned, messages } = await readWindow(store, session, state())
  const seen = [...pinned, ...(prompt ? [prompt] : []), ...messages]
  return seen.reduce((sum, message) => sum + messageTokens(message), summary ? textTokens(summary) : 0)
}

/** Returns early for a command that was answered before or will be refused: a summary costs a model call. */
async function settledBefore(
  { store, session, state }: EffectDeps,
  commandId: Submission['commandId'],
): Promise<Result<Facts> | null> {
  if ((await store.findCommand(session, commandId)) !== null) return ok({})
  // Checked last: the summary starts from the very state that was found idle.
  return state().turn.phase === 'idle' ? null : refuse(turnRunning)
}

async function compactFacts(deps: EffectDeps): Promise<Result<Facts>> {
  const { written, hooks: runs } = await writeCheckpoint(deps, 'manual', deps.sideWorkSignal())
  if (written === null) return ok({})
  if ('vetoed' in written) return refuse(vetoed('The compaction', written.vetoed))
  if (!('failed' in written)) return ok({ checkpoint: written, hooks: { runs, context: null } })
  return refuse(fault('summary_failed', `The past could not be summarised: ${written.failed}`))
}

async function turnFacts({ store, session, state }: EffectDeps, turn: number | undefined): Promise<Facts> {
  const { line, seq } = state()
  const end =
    turn === undefined
      ? await findLastEnd(store, session, line, seq)
      : await findTurnEnd(store, session, line, seq, turn)
  return end ? { end } : {}
}

/** Reads the newest prompts and answers of a line, for lists. */
async function recentTexts({ store, session }: EffectDeps, spans: Spans): Promise<string[]> {
  const recent: string[] = []
  const types = ['user.said', 'text.said'] as const
  for await (const record of walkLine(store, session, spans, { types, newestFirst: true, pageSize: recentMessages })) {
    const text = 'lost' in record ? '' : textOf(record.event).trim()
    if (text !== '') recent.unshift(clip(text, limits.recentTextCharsMax))
    if (recent.length === recentMessages) break
  }
  return recent
}

const recentMessages = limits.recentTextMessages

/** Reads what lists show of a branch: it may begin with another prompt. */
async function branchFacts(deps: EffectDeps, asked: BranchName | number): Promise<Facts> {
  const { store, session, state } = deps
  const branch = findBranch(state(), asked)
  if (!branch) return {}
  const spans = clipLine(branch.line, 0, state().seq)
  const recent = await recentTexts(deps, spans)
  let preview = ''
  for await (const record of walkLine(store, session, spans, { types: ['user.said'], pageSize: 1 })) {
    preview = 'lost' in record ? '' : firstLine(textOf(record.event), limits.previewCharsMax)
    if (preview !== '') break
  }
  return { shown: { preview, recent } }
}

async function messageFacts({ store, session, state }: EffectDeps, message: MessageId): Promise<Facts> {
  if (!isOnLine(state().line, message)) return {}
  const [record] = await store.read(session, { after: message - 1, upTo: message, limit: 1 })
  if (!record || 'lost' in record || !isMessageEvent(record.event)) return {}
  const isCall = record.event.type === 'call.requested'
  const outcomes = isCall ? await store.readRefs(session, [message]) : []
  const outcomeTokens = outcomes.reduce((sum, one) => sum + ('lost' in one ? 0 : eventTokens(one.event)), 0)
  return { message: { isTold: isWindowEvent(record.event), isCall, tokens: eventTokens(record.event) + outcomeTokens } }
}

/** Whether any call of the line is shown collapsed; without calls, whether the next one would be. */
async function isAnyCollapsed(deps: EffectDeps): Promise<boolean> {
  const { line, collapse } = deps.state()
  const except = collapse.except.filter((call) => isOnLine(line, call))
  if (!collapse.all || except.length === 0) return collapse.all || except.length > 0
  let calls = 0
  for await (const _ of walkNow(deps, { types: ['call.requested'], pageSize: except.length + 1 })) {
    if (++calls > except.length) return true
  }
  return false
}

/** Finds the newest answer on the line, which the state does not know after a move. */
export async function findAnswer(deps: EffectDeps): Promise<Pin | null> {
  for await (const answer of walkNow(deps, { types: ['text.said'], newestFirst: true, pageSize: 1 })) {
    if (!('lost' in answer)) return { message: MessageId.parse(answer.seq), tokens: eventTokens(answer.event) }
  }
  return null
}

/** Finds the first of the last messages of the line, reading from its end, and counts their tokens. */
async function tailFacts(
  deps: EffectDeps,
  { keepLast, from = 0 }: Extract<HistoryCommand, { type: 'truncateHistory' }>,
): Promise<Facts> {
  let messages = 0
  let tokens = 0
  for await (const record of walkNow(deps, { types: [...countedMessageEvents, 'call.settled'], newestFirst: true })) {
    if (record.seq < from) break
    if (!('lost' in record)) tokens += eventTokens(record.event)
    if (!('lost' in record) && !isCountedMessage(record.event)) continue
    if (++messages === keepLast) return { keepFrom: { seq: record.seq, tokens, messages } }
  }
  return keepLast === undefined ? { keepFrom: { seq: from, tokens, messages } } : {}
}

/** Finds the summary that a program set, if it applies: it stays for any history. */
async function summaryFacts({ store, session, state }: EffectDeps): Promise<Facts> {
  const { checkpoint } = state()
  if (checkpoint === null) return {}
  const [written] = await store.read(session, { after: checkpoint - 1, upTo: checkpoint, limit: 1 })
  if (!written || 'lost' in written || written.event.type !== 'checkpoint.written') return {}
  const { why, summary } = written.event
  return why === 'made' && summary !== '' ? { setSummary: summary } : {}
}

/** Walks the current line. */
const walkNow = ({ store, session, state }: EffectDeps, options: WalkOptions) =>
  walkLine(store, session, clipLine(state().line, 0, state().seq), options)

type Saved = Pick<EventOf<'summary.saved'>, 'path' | 'text' | 'usage' | 'model'>

/** Lets the model write a note about the session and saves it in the workdir. Null when nothing was said. */
async function writeSummaryFile(deps: EffectDeps, signal: AbortSignal): Promise<Result<Saved | null>> {
  const { store, session, state, summaryFiles: artefacts } = deps
  const { origin } = state()
  invariant(origin, 'a session that can be summarised was started')
  if (origin.workdir === noWorkdir) return refuse(workdirNeeded)
  const window = await readWindow(store, session, state())
  if (window.messages.length === 0 && !window.summary) return ok(null)
  const written = await writeSummary(deps, (model) => summaryFileRequest(model, window), signal)
  if ('message' in written) return refuse(fault(written.type, written.message, { model: modelNow(state()) }))
  if ('failed' in written) return refuse(fault('summary_failed', `No summary was written: ${written.failed}`))
  const { text, usage, model } = written
  const title = firstLine(text, 80).replace(/^#+\s*/, '')
  const path = await artefacts.save(origin.workdir, title, text)
  return path.ok ? ok({ path: path.value, text, usage, model }) : path
}
