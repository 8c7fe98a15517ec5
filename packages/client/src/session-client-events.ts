import { type ClientEvent, orThrow, type SessionHandle, type SubmitOptions } from '@holdfast/protocol'

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
