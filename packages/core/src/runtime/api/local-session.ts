import {
  type Answer,
  type Result,
  refuse,
  type SessionHandle,
  type SessionId,
  type Submission,
} from '@holdfast/protocol'
import { refuseThrown } from '../refuse-thrown.ts'
import { hasMoved } from '../registry/owners.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { followAnywhere } from './follow-anywhere.ts'
import { takeMovingSeat } from './moving-seat.ts'
import { createOwnSession, type LocalSession, parseSubmission } from './own-session.ts'
import { lookUpsMax, noSignal, ownerUnreachable, pauseBefore } from './relocation.ts'

/** The reads that the owner of a session answers: it knows who is attached, and its own models and commands. */
export const forwardedReads = [
  'snapshot',
  'state',
  'page',
  'clientEvents',
  'fileChanges',
  'previewRestore',
  'diffChanges',
  'readFile',
  'boundaries',
  'backgroundShells',
  'skills',
  'instructionFiles',
  'commands',
  'branches',
  'models',
  'treeUsage',
  'servers',
  'subagents',
  'subagentContext',
] as const satisfies readonly (keyof SessionHandle)[]

/**
 * Creates a session of this machine: it runs here, or in the process that owns it. All methods do the same in both
 * cases. If the owner ends, the session is taken over and goes on here.
 */
export function createLocalSession(registry: SessionRegistry, id: SessionId): LocalSession {
  const own = createOwnSession(registry, id)
  if (!registry.deps.reach) return own
  const dispatch = (submission: Submission) => dispatchAnywhere(registry, own, submission).catch(refuseThrown)
  const reads = Object.fromEntries(
    forwardedReads.map((method) => [
      method,
      (...args: readonly unknown[]) => readAnywhere(registry, own, method, ...args).catch(refuseThrown),
    ]),
  )
  return {
    ...own,
    ...(reads as Pick<LocalSession, (typeof forwardedReads)[number]>), // each has the signature of the method it calls
    dispatch,
    async submit(input, options = {}) {
      const submission = parseSubmission(input, options)
      return submission.ok ? dispatch(submission.value) : submission
    },
    subscribe: (options = {}) => followAnywhere(registry, own, options),
    attach: (options = {}) => takeMovingSeat(registry, own, options).catch(refuseThrown),
  }
}

/** Reads at the owner. If it has ended meanwhile, the store knows as much. */
async function readAnywhere(
  registry: SessionRegistry,
  own: LocalSession,
  method: (typeof forwardedReads)[number],
  ...args: readonly unknown[]
): Promise<Result<unknown>> {
  const read = own[method] as (...given: readonly unknown[]) => Promise<Result<unknown>>
  const owner = registry.loaded(own.id) || registry.closedFault() ? null : await registry.owners.find(own.id)
  if (owner === null) return read(...args)
  const answer = await owner.call({ session: own.id, method, args }, noSignal)
  return hasMoved(answer) ? read(...args) : answer
}

/** Runs a command here or at the owner. The command id makes it safe to send it again when the owner changes. */
async function dispatchAnywhere(
  registry: SessionRegistry,
  own: LocalSession,
  submission: Submission,
): Promise<Result<Answer>> {
  const { id } = own
  let isMoving = false
  for (let lookUp = 0; ; lookUp++) {
    const owner = registry.loaded(id) ? null : await registry.owners.find(id)
    if (owner) {
      const answer = await owner.call({ session: id, method: 'dispatch', args: [submission] }, noSignal)
      if (!hasMoved(answer)) return answer as Result<Answer> // of `dispatch` there
    }
    // Here if it is free or its owner is dead: loading takes it over.
    const loaded = owner ? await registry.load(id) : null
    const refusal = loaded?.ok === false ? loaded.fault : null
    const answer = refusal ? refuse(refusal) : await own.dispatch(submission)
    const code = answer.ok ? null : answer.fault.code
    isMoving ||= owner !== null
    // The client is attached here as soon as its stream has followed the session.
    const isAwaited = isMoving && submission.needsSeat === true && code === 'not_subscribed'
    if (answer.ok || (code !== 'session_locked' && code !== 'fenced' && !isAwaited)) return answer
    if (lookUp >= lookUpsMax)
      return isAwaited ? answer : refuse(ownerUnreachable(id, answer.fault, registry.deps.cluster !== undefined))
    await pauseBefore(registry.deps.clock, lookUp)
  }
}
