import type { ClientId, Role } from '@holdfast/protocol'
import type { DriverControl } from './driver-control.ts'

/** Who joins; one without a name takes no seat. */
export type AttachedClient = { readonly client: ClientId | null; readonly role?: Role | undefined }

/** Counts who is attached: a client once, however many subscriptions it holds, and each that has no name. */
export interface Attachments {
  readonly count: number
  /** Takes a seat; what is returned gives it back, and does so once. */
  come(who: AttachedClient): () => void
}

export function createAttachments(seats: DriverControl, changed: () => void): Attachments {
  let nameless = 0
  return {
    get count() {
      return seats.all.length + nameless
    },
    come({ client, role }) {
      let isIn = true
      if (client === null) nameless += 1
      else seats.sit(client, role)
      changed()
      return () => {
        if (!isIn) return
        isIn = false
        if (client === null) nameless -= 1
        else seats.leave(client)
        changed()
      }
    },
  }
}
