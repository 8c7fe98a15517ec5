import {
  type ClientEvent,
  type CommandInput,
  orThrow,
  type SessionHandle,
  type SubmitOptions,
} from '@holdfast/protocol'

export type PinOptions = SubmitOptions & {
  /** Pins or unpins; toggles when absent. */
  readonly pinned?: boolean | undefined
}

/** Methods for how a session is listed and where it works. */
export interface SessionCatalogue {
  /** Pins or unpins the session: listed first, protected from prune and clearAll. Returns whether it is pinned. */
  pinSession(options?: PinOptions): Promise<boolean>
  /** Sets the title. An empty title restores the first line of the first prompt. */
  rename(title: string, options?: SubmitOptions): Promise<void>
  /** Changes the working directory. Trust of the old workspace does not apply there. */
  moveWorkdir(workdir: string, options?: SubmitOptions): Promise<void>
}

export function createSessionCatalogue(handle: SessionHandle): SessionCatalogue {
  const submit = async (command: CommandInput, options?: SubmitOptions) =>
    orThrow(await handle.submit(command, options)).result
  return {
    async pinSession({ pinned, ...options } = {}) {
      const result = await submit({ type: 'pinSession', ...(pinned !== undefined && { pinned }) }, options)
      return (result['pinned'] ?? pinned) === true // no result when nothing changed
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
  /** The client events now cover the whole session. */
  readonly complete?: boolean | undefined
}

/** Methods for events that clients store for each other. */
export interface SessionClientEvents {
  /** Stores a client's own event once. It is never sent to the model. */
  appendClientEvent(event: ClientEvent, options?: ClientEventOptions): Promise<void>
  /** Whether the client events cover the whole session. */
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
