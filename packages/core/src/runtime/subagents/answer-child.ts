import { type Answer, fault, type Result, refuse, type SessionId, type Submission } from '@holdfast/protocol'
import { type SessionState, waitingCalls } from '../../session/state.ts'
import type { SubagentHost } from './host.ts'
import type { KnownChildren } from './known-children.ts'

type Above = { readonly session: SessionId; readonly state: SessionState }

/**
 * Passes the answer to an approval on to the subagent that waits for it. Without a name it is for the session itself, and
 * only if nothing waits there for the subagent that was started first. Null if the session has to answer it.
 */
export async function answerChild(
  host: SubagentHost,
  known: KnownChildren,
  { session, state }: Above,
  submission: Submission,
): Promise<Result<Answer> | null> {
  const { command } = submission
  if (command.type !== 'respondToApproval') return null
  if (command.child === undefined && (command.approval !== undefined || waitingCalls(state).length > 0)) return null
  if (command.child === session) return null
  for (const { session: child } of state.children) if (!host.loaded(child)) await host.load(child)
  const named = command.child
  const first = () => known.below(session).find(({ pendingApprovals }) => pendingApprovals.length > 0)?.id
  const child = named ?? (await findAnswered(host, known, session, submission)) ?? first()
  if (child === undefined) return null
  const runner = await host.load(child)
  if (!runner.ok || !known.isAbove(session, child)) return refuse(notBelow(child))
  const { child: _, ...answer } = command
  const { needsSeat: _seat, person: _person, ...sent } = submission
  return runner.value.submit({ ...sent, command: answer, isFromAbove: true })
}

/** Returns the subagent that has answered the same command before: a retry gets the same answer. */
async function findAnswered(
  host: SubagentHost,
  known: KnownChildren,
  session: SessionId,
  { commandId }: Submission,
): Promise<SessionId | undefined> {
  for (const { id } of known.below(session)) if ((await host.storeOf(id).findCommand(id, commandId)) !== null) return id
  return undefined
}

const notBelow = (child: SessionId) =>
  fault('approval_not_found', `This session has no subagent ${child} with an approval that waits.`, { child })
