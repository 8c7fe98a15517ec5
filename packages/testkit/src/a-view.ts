import { SessionView } from '@holdfast/protocol'
import type { z } from 'zod'

/** Where a session at rest stands, of which a test changes what it is about. */
export const aView = (changes: Partial<z.input<typeof SessionView>> = {}): SessionView =>
  SessionView.parse({
    status: 'idle',
    mode: 'exec',
    activity: 'idle',
    model: 'demo/agent',
    thinkingLevel: 'off',
    fallback: null,
    step: null,
    pendingApprovals: [],
    activeToolCalls: [],
    queue: [],
    trust: [],
    branches: [],
    branch: null,
    pins: [],
    collapsed: false,
    tokens: 0,
    isEstimate: true,
    turnUsage: null,
    checkpoint: null,
    lastTurn: null,
    clientEventsComplete: false,
    ...changes,
  })
