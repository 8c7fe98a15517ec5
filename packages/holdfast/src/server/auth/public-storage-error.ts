import type { Fault, Frame, ProcessView, StorageError } from '@holdfast/protocol'
import { describeReason } from '../../system/storage-reasons.ts'
import type { Caller } from './access.ts'

/** Only an admin learns where the store is. */
const knowsPaths = (caller: Caller | null): boolean => caller?.role === 'admin'

const notAccepted = 'Your command was not accepted. Send it again when the store works.'

/** Returns a fault as the caller may see it: below admin, a failure of the store without its paths. */
export function faultFor(caller: Caller | null, fault: Fault): Fault {
  if (knowsPaths(caller) || fault.code !== 'storage_error') return fault
  const { reason, isCommandRefused, retryAfterSeconds } = fault.details ?? {}
  const message = isCommandRefused === true ? `${messageOf(reason)} ${notAccepted}` : messageOf(reason)
  const shown = {
    ...(typeof reason === 'string' && { reason }),
    ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
  }
  return { code: fault.code, message, ...(Object.keys(shown).length > 0 && { details: shown }) }
}

/** Returns what is known about the process as the caller may see it. */
export function hereFor<Here extends Pick<ProcessView, 'storageError'>>(caller: Caller | null, here: Here): Here {
  if (knowsPaths(caller) || here.storageError === null) return here
  return { ...here, storageError: withoutPath(here.storageError) }
}

/** Frames without paths, so that all viewers of a session still share them. */
const shown = new WeakMap<Frame, Frame>()

/** Returns a frame as the caller may see it. */
export function frameFor(caller: Caller | null, frame: Frame): Frame {
  if (knowsPaths(caller) || !hasPath(frame)) return frame
  const known = shown.get(frame)
  if (known) return known
  const one: Frame =
    frame.type === 'storage'
      ? { ...frame, error: frame.error && withoutPath(frame.error) }
      : { ...frame, here: frame.here && hereFor(caller, frame.here) }
  shown.set(frame, one)
  return one
}

type FrameWithPath = Extract<Frame, { readonly type: 'storage' | 'snapshot' }>

const hasPath = (frame: Frame): frame is FrameWithPath =>
  frame.type === 'storage' ? frame.error !== null : frame.type === 'snapshot' && Boolean(frame.here?.storageError)

const withoutPath = ({ reason }: StorageError): StorageError => ({ reason, message: messageOf(reason) })

const messageOf = (reason: unknown): string =>
  `The store cannot be used: ${describeReason(reason) ?? 'the log of the server has the reason'}.`
