import type { Meta } from '@holdfast/protocol'
import { noUsage } from '@holdfast/protocol'

/** The metadata of a session of which nothing is known but how it is found. */
export const placeholderMeta = (found: Pick<Meta, 'id' | 'handle' | 'title'>, at: string): Meta => ({
  ...found,
  ...{ workspace: '/', model: 'unknown/unknown', provider: 'unknown', status: 'idle', mode: 'exec' },
  ...{ createdAt: at, lastMessageAt: at, messageCount: 0, turnCount: 0, branchCount: 0, usage: noUsage },
  ...{ preview: '', recentText: '', pinned: false, attachments: 0 },
})
