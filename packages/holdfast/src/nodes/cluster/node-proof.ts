import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The header in which nodes prove who they are. The key itself is never sent. */
export const proofHeader = 'holdfast-node'

const noncesMax = 50_000

type Asked = {
  readonly path: string
  readonly body: string
  /** The caller's own token, if it sent one. */
  readonly authorization: string | undefined
}

const sign = (key: string, ...parts: readonly string[]): string =>
  createHmac('sha256', key).update(parts.join('\n')).digest('base64url')

const askParts = (to: string, nonce: string, { path, body, authorization = '' }: Asked): readonly string[] => [
  ...['ask', to, nonce, path, authorization, createHash('sha256').update(body).digest('base64url')],
]

function isSame(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Returns a new key of a node. */
export const createNodeKey = (): string => randomBytes(32).toString('base64url')

/** Proves to the node `to` that the sender can read its key, and checks that the answer comes from that node. */
export function proveTo(to: string, key: string, asked: Asked) {
  const nonce = randomBytes(16).toString('base64url')
  return {
    header: `${to} ${nonce} ${sign(key, ...askParts(to, nonce, asked))}`,
    isAnswer: (header: unknown): boolean => typeof header === 'string' && isSame(header, sign(key, 'answer', nonce)),
  }
}

/** Checks the proofs of requests to this node. Each works once. */
export function createProofCheck(id: string, key: string) {
  const seen = new Set<string>()
  return (header: unknown, asked: Asked): { readonly answer: string } | null => {
    const [to = '', nonce = '', mac = ''] = typeof header === 'string' ? header.split(' ') : []
    if (to !== id || nonce === '' || seen.has(nonce)) return null
    if (!isSame(mac, sign(key, ...askParts(to, nonce, asked)))) return null
    const [oldest] = seen
    if (seen.size >= noncesMax && oldest !== undefined) seen.delete(oldest)
    seen.add(nonce)
    return { answer: sign(key, 'answer', nonce) }
  }
}
