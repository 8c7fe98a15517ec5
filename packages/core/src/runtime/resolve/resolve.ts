import {
  type ApprovalId,
  type CommandId,
  type Content,
  type EventOf,
  type Fault,
  fault,
  limits,
  type ModelName,
  noSuchSkill,
  noWorkdir,
  ok,
  type Payer,
  payerOf,
  type Result,
  refuse,
  ThinkingLevel,
} from '@holdfast/protocol'
import { overBudget, workdirNeeded } from '../../session/decide/prompt.ts'
import type { Facts } from '../../session/facts.ts'
import type { SessionCommand, SessionSubmission } from '../../session/input.ts'
import { askedCalls, waitingCalls } from '../../session/state.ts'
import type { EffectDeps } from '../dependencies.ts'
import { readArgs } from '../effects/call-hooks.ts'
import { lookAtRunning } from '../effects/run-tool.ts'
import { findTurnCap, withCap } from '../find-cap.ts'
import { locate, readBounded } from './bounded-file.ts'
import { checkFiles, filesOf, refuseText } from './check-files.ts'
import { expandPrompt, type RefuseTurn } from './expand-prompt.ts'
import { findAnswer, resolveHistory } from './resolve-history.ts'
import { lookForHooks, submitToHooks } from './submit-to-hooks.ts'
import { refuseUnknownTool } from './unknown-tool.ts'

/** Looks up, before the command is queued, what its decision needs. A command refused here never reaches the session. */
export async function resolve(
  deps: EffectDeps,
  { command, commandId, person }: SessionSubmission,
): Promise<Result<Facts>> {
  const payer = payerOf(person)
  switch (command.type) {
    case 'sendPrompt':
    case 'queueSteering':
    case 'queueFollowUp':
      return submitToHooks(deps, await withCap(deps, payer, resolvePrompt(deps, payer, command.content, commandId)), {
        command,
        commandId,
      })
    case 'editQueueEntry':
      return submitToHooks(deps, await expandContent(deps, command.content, commandId, noRefusal), {
        command,
        commandId,
      })
    case 'continue':
      await lookForHooks(deps)
      return withCap(deps, payer, resolveContinue(deps))
    case 'respondToApproval':
      return resolveAnswer(deps, command)
    case 'setToolTrust':
      return factsUnless(refuseUnknownTool(deps.tools, [command.tool]))
    case 'setModel':
      return factsUnless(refuseModel(deps, command.model))
    case 'cycleModel':
      return ok({ rotation: deps.models.rotation() })
    case 'setThinkingLevel':
      return factsUnless(refuseLevel(deps, command.level))
    case 'cycleThinkingLevel':
      return ok({ thinkingLevels: knownLevels(deps) })
    case 'enterExec':
      return ok(command.keepPlan && deps.state().lastAnswer === null ? { lastAnswer: await findAnswer(deps) } : {})
    case 'moveWorkdir': {
      const workdir = await deps.resolveWorkdir(command.workdir)
      return workdir.ok ? ok({ workdir: workdir.value }) : workdir
    }
    case 'setBoundary':
      await lookAtRunning(deps)
      return readBounded(deps, command)
    case 'clearBoundary':
      await lookAtRunning(deps)
      return locate(deps, command.path)
    case 'activateSkill':
      return readSkill(deps, command.name)
    case 'clearAllBoundaries':
      await lookAtRunning(deps)
      return ok({})
    case 'deactivateSkill':
    case 'setServer':
    case 'pinSession':
    case 'rename':
    case 'abort':
    case 'enterPlan':
    case 'setBudgets':
    case 'setApprovals':
    case 'recallQueues':
    case 'clearQueues':
    case 'dequeueSteering':
    case 'removeQueueEntry':
    case 'reorderQueue':
    case 'revokeToolTrust':
    case 'appendClientEvent':
      return ok({})
    default:
      return resolveHistory(deps, command, commandId, payer)
  }
}

/** Expands a prompt and checks it. What a slash command answers people needs neither a folder nor a model. */
async function resolvePrompt(
  deps: EffectDeps,
  payer: Payer,
  content: Content,
  commandId: CommandId,
): Promise<Result<Facts>> {
  const findRefusal = async () => refuseFolder(deps) ?? refuseModel(deps) ?? (await deps.findDamage())
  const refuseTurn = async () => (await findRefusal()) ?? refuseBudget(deps) ?? (await findTurnCap(deps, payer))
  const facts = await expandContent(deps, content, commandId, refuseTurn)
  if (!facts.ok || (facts.value.expanded && 'note' in facts.value.expanded)) return facts
  const refusal = await findRefusal()
  return refusal ? refuse(refusal) : facts
}

const resolveContinue = async (deps: EffectDeps): Promise<Result<Facts>> =>
  factsUnless(refuseFolder(deps) ?? refuseModel(deps) ?? (await deps.findDamage()))

const noRefusal: RefuseTurn = async () => null

/** Expands the slash command that a prompt begins with, if any, and checks what it became. */
async function expandContent(
  deps: EffectDeps,
  content: Content,
  commandId: CommandId,
  refuseTurn: RefuseTurn,
): Promise<Result<Facts>> {
  const refusal = await refuseContent(deps, content)
  if (refusal) return refuse(refusal)
  const facts = await expandPrompt(deps, content, commandId, refuseTurn)
  if (!facts.ok || !facts.value.expanded || 'note' in facts.value.expanded) return facts
  const tooLarge = await refuseContent(deps, facts.value.expanded.content)
  return tooLarge ? refuse(tooLarge) : facts
}

async function readSkill({ skills, state }: EffectDeps, name: string): Promise<Result<Facts>> {
  const workdir = state().origin?.workdir ?? ''
  const found = await skills?.read({ workdir, name, charsMax: limits.skillCharsMax })
  if (!found) return refuse(noSuchSkill(name))
  return found.ok ? ok({ skill: { name: found.value.name, hash: found.value.hash } }) : found
}

const factsUnless = (refusal: Fault | null): Result<Facts> => (refusal ? refuse(refusal) : ok({}))

/** Checked before the model, so that a session is moved to a folder before its model needs a key. */
const refuseFolder = ({ state }: EffectDeps): Fault | null =>
  state().origin?.workdir === noWorkdir ? workdirNeeded : null

/** Returns the budget that keeps a turn from starting now. A running turn meets it itself. */
const refuseBudget = ({ state }: EffectDeps): Fault | null =>
  state().turn.phase === 'idle' ? overBudget(state()) : null

const refuseContent = async (deps: EffectDeps, content: Content): Promise<Fault | null> =>
  refuseText(content) ?? checkFiles(filesOf(deps), content)

/**
 * Whether the facts of a command depend on the current line, so that they are looked up again after a new record. Those of
 * `in turn` are looked up only inside the mailbox: nothing else may happen in the session meanwhile.
 */
export const factsGoStale: Readonly<Record<SessionCommand['type'], boolean | 'in turn'>> = {
  restoreFiles: 'in turn',
  branchAt: true,
  rewind: true,
  fork: true,
  truncateHistory: true,
  setHistory: true,
  enterExec: true,
  togglePin: true,
  toggleToolCollapse: true,
  toggleAllToolCollapses: true,
  setThinkingLevel: true,
  cycleThinkingLevel: true,
  sendPrompt: false,
  queueSteering: false,
  queueFollowUp: false,
  recallQueues: false,
  clearQueues: false,
  dequeueSteering: false,
  editQueueEntry: false,
  removeQueueEntry: false,
  reorderQueue: false,
  respondToApproval: false,
  setToolTrust: false,
  revokeToolTrust: false,
  abort: false,
  continue: false,
  enterPlan: false,
  setModel: false,
  cycleModel: false,
  setBudgets: false,
  setApprovals: false,
  appendClientEvent: false,
  pinSession: false,
  rename: false,
  moveWorkdir: false,
  setBoundary: false,
  clearBoundary: false,
  clearAllBoundaries: false,
  activateSkill: false,
  deactivateSkill: false,
  setServer: false,
  switchBranch: true,
  seedMessages: false,
  addSystemMessage: false,
  compact: false,
  undoCompaction: false,
  appendCheckpoint: false,
  summarize: false,
  setSummary: false,
}

/** Stores the rule that an answer for the workspace asks for: the answer is refused if that fails. */
async function resolveAnswer(
  deps: EffectDeps,
  { approval, decision }: Extract<SessionCommand, { type: 'respondToApproval' }>,
): Promise<Result<Facts>> {
  const past = approval === undefined ? {} : await pastApproval(deps, approval)
  const named = approval ?? waitingCalls(deps.state())[0]?.approval
  const asked = askedCalls(deps.state()).find((call) => call.approval === named)
  const { origin } = deps.state()
  if (decision !== 'approve_always' || !asked || asked.reason !== undefined || !origin) return ok(past)
  const { tool } = asked
  const args = await readArgs(deps, asked.id)
  const stored = await deps.permissions.allow({ tool, args, workdir: origin.workdir })
  return stored.ok ? ok({ ...past, ...(stored.value && { stored: stored.value }) }) : stored
}

/** Finds out who answered an approval, so that the refusal of a late answer can name them. */
async function pastApproval({ store, session, state }: EffectDeps, approval: ApprovalId): Promise<Facts> {
  if (approval > state().seq || waitingCalls(state()).some((call) => call.approval === approval)) return {}
  const [asked] = await store.read(session, { after: approval - 1, upTo: approval, limit: 1 })
  if (!asked || 'lost' in asked) return {}
  if (asked.event.type !== 'approval.asked' && asked.event.type !== 'question.asked') return {}
  for (const record of await store.readRefs(session, [asked.event.call])) {
    if ('lost' in record || record.seq <= approval) continue // a call can be asked for again
    const { event } = record
    if (event.type === 'call.approved')
      return {
        decided: { by: 'rule' in event.by ? event.by.rule : (event.by.via ?? event.by.client ?? 'someone else') },
      }
    if (event.type === 'question.answered' && event.question === approval)
      return { decided: { by: event.by ? (event.by.via ?? event.by.client ?? 'someone else') : 'the end of its call' } }
    if (event.type === 'call.settled') return { decided: { by: settledBy(event) } }
  }
  return {}
}

function settledBy({ by, outcome }: EventOf<'call.settled'>): string {
  const via = outcome.type === 'denied' ? outcome.via : undefined
  if (by) return via ?? by.client ?? 'someone else'
  return outcome.type === 'denied' && outcome.code === 'timed_out' ? 'its timeout' : 'the end of its turn'
}

type Deps = Pick<EffectDeps, 'models' | 'state'>

/** Returns a fault if the model is not ready; its message says what to do. */
function refuseModel({ models, state }: Deps, model: ModelName = state().settings.model): Fault | null {
  const found = models.find(model)
  return found.type === 'ready' ? null : fault(found.type, found.message, { model })
}

/** Returns the thinking levels of the session's model; all of them when it is not ready. */
function knownLevels({ models, state }: Deps): readonly ThinkingLevel[] {
  const model = models.find(state().settings.model)
  return (model.type === 'ready' ? model.thinkingLevels : undefined) ?? ThinkingLevel.options
}

function refuseLevel(deps: Deps, level: ThinkingLevel): Fault | null {
  const known = knownLevels(deps)
  if (known.includes(level)) return null
  const { model } = deps.state().settings
  const message = `${model} has no thinking level ${level}. It has: ${known.join(', ')}.`
  return fault('unknown_level', message, { model, known: [...known] })
}
