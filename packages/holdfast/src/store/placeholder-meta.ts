import type { Meta } from '@holdfast/protocol'
import { noUsage } from '@holdfast/protocol'

/** Returns metadata for a session with known names and no other data. */
export const placeholderMeta = (names: Pick<Meta, 'id' | 'handle' | 'title'>, at: string): Meta => ({
  ...names,
  workspace: '/',
  model: 'unknown/unknown',
  provider: 'unknown',
  status: 'idle',
  mode: 'exec',
  createdAt: at,
  lastMessageAt: at,
  messageCount: 0,
  turnCount: 0,
  branchCount: 0,
  usage: noUsage,
  preview: '',
  recentText: '',
  pinned: false,
  attachments: 0,
})
