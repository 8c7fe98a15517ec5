import { Meta, noUsage } from '@holdfast/protocol'
import type { z } from 'zod'

const at = '2026-01-01T00:00:00.000Z'

/** What a list shows of a session nobody has spoken in yet, of which a test changes what it is about. */
export const aMeta = (changes: Partial<z.input<typeof Meta>> = {}): Meta =>
  Meta.parse({
    id: 'ses_01k5zzzzzzzzzzzzzzzzzzzzzz',
    handle: 'calm-harbor-12',
    title: 'A talk',
    workspace: '/work',
    model: 'demo/agent',
    provider: 'demo',
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
    ...changes,
  })
