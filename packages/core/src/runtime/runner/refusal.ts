import type { ClientId, Fault, Submission } from '@holdfast/protocol'
import type { SessionSubmission } from '../../session/input.ts'
import { foreignAttachment, notSubscribed } from '../stream/driver-control.ts'
import type { RunningSession } from './handle-input.ts'

/** Returns a fault if this client may not send this command. A client that may drive can always abort. */
export function refusalOf(session: RunningSession, submission: SessionSubmission, by: ClientId): Fault | null {
  const { command, mayDrive, isFromAbove } = submission
  if (isFromAbove) return null // a session above has checked it
  const { drivers } = session.hub
  const unseated = seatRefusal(session, submission, by)
  if (unseated) return unseated
  if (command.type !== 'abort') return drivers.refusal(by)
  return mayDrive ? null : drivers.abortRefusal(by)
}

/** Returns a fault if the sender's attachment is gone, or another caller took its name while the command waited. */
export function seatRefusal(
  { hub: { drivers } }: RunningSession,
  { needsSeat, person }: Pick<Submission, 'needsSeat' | 'person'>,
  by: ClientId,
): Fault | null {
  if (needsSeat && drivers.roleOf(by) === null) return notSubscribed(by)
  return person !== undefined && drivers.isForeign(by, person) ? foreignAttachment(by) : null
}
