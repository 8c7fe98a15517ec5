import type { AttachOptions, Authority, ClientId } from '@holdfast/protocol'
import type { AttachedClient } from '../stream/driver-control.ts'

/** Who a client of the server is, and what its token lets it do. */
export type CallerOptions = { readonly caller?: Authority | undefined }

/** Splits off the authority that the server gives its clients, and the callback for a connection, which is not needed here. */
export function splitCaller(given: CallerOptions): {
  readonly caller?: Authority | undefined
  readonly options: unknown
} {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { options: given }
  const { caller, onConnection: _, ...options }: CallerOptions & { readonly onConnection?: unknown } = given
  return { caller, options }
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
