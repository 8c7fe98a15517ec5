import { loadAgents } from './agents.ts'
import { loadGemini } from './gemini.ts'
import { ourPeer } from './holdfast.ts'
import { loadLanggraph } from './langgraph.ts'
import type { Peer } from './peer.ts'
import { loadPi } from './pi.ts'

/** All peers by their name on the command line. Ours is first, because the others are compared with it. */
export const peerLoaders = {
  holdfast: async (): Promise<Peer> => ourPeer('sqlite'),
  jsonl: async (): Promise<Peer> => ourPeer('jsonl'),
  pi: loadPi,
  gemini: loadGemini,
  agents: loadAgents,
  langgraph: loadLanggraph,
} as const

export type PeerName = keyof typeof peerLoaders
export const peerNames = Object.keys(peerLoaders) as readonly PeerName[] // the keys of a literal
