import {
  type ClientEvent,
  type CommandInput,
  orThrow,
  type SessionHandle,
  type SubmitOptions,
} from '@holdfast/protocol'

export type PinOptions = SubmitOptions & {
  /** Pins it or lets it go; without it, the other way round than it is. */
  readonly pinned?: boolean | undefined
}

/** How a session is kept: its name, its place in the list and on the disk. */
export interface SessionCatalogue {
  /** Listed first and kept from prune and clearAll, or no longer; answers whether it is pinned now. */
  pinSession(options?: PinOptions): Promise<boolean>
  /** Names the session; an empty title gives it the first line of its first prompt again. */
  rename(title: string, options?: SubmitOptions): Promise<void>
  /** Lets the session work in another folder from now on. What the former workspace trusts is not carried over. */
  moveWorkdir(workdir: string, options?: SubmitOptions): Promise<void>
}

export function createSessionCatalogue(handle: SessionHandle): SessionCatalogue {
  const submit = async (command: CommandInput, options?: SubmitOptions) =>
    orThrow(await handle.submit(command, options)).result
  return {
    async pinSession({ pinned, ...options } = {}) {
      const result = await submit({ type: 'pinSession', ...(pinned !== undefined && { pinned }) }, options)
      return (result['pinned'] ?? pinned) === true // it may have been so before, and then nothing is told
    },
    async rename(title, options) {
      await submit({ type: 'rename', title }, options)
    },
    async moveWorkdir(workdir, options) {
      await submit({ type: 'moveWorkdir', workdir }, options)
    },
  }
}

export type ClientEventOptions = SubmitOptions & {
  /** With this event they cover the whole session. */
  readonly complete?: boolean | undefined
}

/** What clients leave in a session for each other. */
export interface SessionClientEvents {
  /** Keeps an event of a client's own for other clients: once, however often it is sent, and never sent to the model. */
  appendClientEvent(event: ClientEvent, options?: ClientEventOptions): Promise<void>
  /** Whether such events cover the whole session. */
  clientEventsComplete(): Promise<boolean>
}

export function createSessionClientEvents(handle: SessionHandle): SessionClientEvents {
  return {
    async appendClientEvent(event, { complete, ...options } = {}) {
      const command = { type: 'appendClientEvent' as const, event, ...(complete !== undefined && { complete }) }
      orThrow(await handle.submit(command, options))
    },
    clientEventsComplete: async () => orThrow(await handle.snapshot()).view.clientEventsComplete,
  }
}
