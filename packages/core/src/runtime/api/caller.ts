import type { AttachOptions, Authority, ClientId } from '@holdfast/protocol'
import type { AttachedClient } from '../stream/driver-control.ts'

/** What the server says about one of its clients. */
export type CallerOptions = {
  /** Who it is, and what its token lets it do. */
  readonly caller?: Authority | undefined
  /** Whether a stream that is read too slowly ends with `slow`. By default it continues at its cursor, from the log. */
  readonly endsWhenSlow?: boolean | undefined
}

/** Splits off what the server says about its client, and the callback for a connection, which is not needed here. */
export function splitCaller(given: CallerOptions): CallerOptions & { readonly options: unknown } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { options: given }
  const {
    caller,
    endsWhenSlow,
    onConnection: _,
    ...options
  }: CallerOptions & { readonly onConnection?: unknown } = given
  return { caller, endsWhenSlow, options }
}

type AskedSeat = { readonly client?: ClientId | undefined } & Pick<AttachOptions, 'role' | 'mayDrive'>

/** Returns who attaches, with its authority. */
export function attachedClient(
  { client, role, mayDrive = false }: AskedSeat,
  caller?: Authority,
): AttachedClient & { readonly authority: Authority } {
  // The program decides who may drive, so its clients may then take control from anyone.
  return { client: client ?? null, role, authority: caller ?? { person: null, mayDrive, isAdmin: mayDrive } }
}
