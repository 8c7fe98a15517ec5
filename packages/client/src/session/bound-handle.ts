import type { Seat, SessionHandle } from '@holdfast/protocol'

/** Returns the handle in the name of a client: it sends commands, subscribes and attaches under this name. */
export const bindClient = (handle: SessionHandle, client: string): SessionHandle => ({
  ...handle,
  submit: (command, options = {}) => handle.submit(command, { ...options, as: options.as ?? client }),
  subscribe: (options = {}) => handle.subscribe({ ...options, client: options.client ?? client }),
  attach: (options = {}) => handle.attach({ ...options, client: options.client ?? client }),
})

/** Returns the handle of an attached client. Its commands are refused once the client is detached. */
export const bindSeat = (handle: SessionHandle, { client, submit }: Seat): SessionHandle => ({
  ...bindClient(handle, client),
  submit,
})
