import { loadAgents } from './agents.ts'
import { loadGemini } from './gemini.ts'
import { loadOurs } from './holdfast.ts'
import { loadLanggraph } from './langgraph.ts'
import { loadPi } from './pi.ts'

/** All peers by their name on the command line. Ours is first, because the others are compared with it. */
export const peerLoaders = {
  holdfast: () => loadOurs('sqlite'),
  jsonl: () => loadOurs('jsonl'),
  pi: loadPi,
  gemini: loadGemini,
  agents: loadAgents,
  langgraph: loadLanggraph,
} as const

export type PeerName = keyof typeof peerLoaders
export const peerNames = Object.keys(peerLoaders) as readonly PeerName[] // the keys of a literal
