import { type IncomingMessage, Agent as PlainAgent, request as requestPlain } from 'node:http'
import { request as requestSecure, Agent as SecureAgent } from 'node:https'
import type { OtherNode } from '@holdfast/core'
import type { NodeRow } from '@holdfast/core/ports'
import { carriedBearer } from '../carried-bearer.ts'
import { createOtherNode } from '../other-node.ts'
import { proofHeader, proveTo } from './node-proof.ts'

/** How long a node may take to accept a connection. */
const connectMsMax = 1000

/** Returns how to reach the nodes of a cluster by their URLs. Connections are kept for further requests. */
export function createReach(keyOf: (id: string) => Promise<string | null>) {
  const agents = { 'http:': new PlainAgent({ keepAlive: true }), 'https:': new SecureAgent({ keepAlive: true }) }
  const keys = new Map<string, string>() // the key of a node never changes

  async function knownKey(id: string): Promise<string> {
    const key = keys.get(id) ?? (await keyOf(id))
    if (key === null) throw new Error(`${id} has left`)
    keys.set(id, key)
    return key
  }

  async function sendTo({ id, address }: NodeRow, path: string, body: string, signal: AbortSignal) {
    const { protocol } = new URL(address)
    const isSecure = protocol === 'https:'
    // News are for all who follow them here, not for the one who asked first.
    const authorization = path === '/news' ? undefined : (carriedBearer() ?? undefined)
    const proof = proveTo(id, await knownKey(id), { path, body, authorization })
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      [proofHeader]: proof.header,
      ...(authorization !== undefined && { authorization }),
    }
    return new Promise<IncomingMessage>((resolve, reject) => {
      const agent = isSecure ? agents['https:'] : agents['http:']
      const ask = isSecure ? requestSecure : requestPlain
      const sent = ask(new URL(path, address), { method: 'POST', agent, signal, headers })
      sent.on('socket', (socket) => {
        if (!socket.connecting) return
        const late = setTimeout(() => sent.destroy(new Error(`${address} did not answer in time`)), connectMsMax)
        socket.once('connect', () => clearTimeout(late)).once('close', () => clearTimeout(late))
      })
      sent.on('error', reject)
      sent.on('response', (response) => {
        if (proof.isAnswer(response.headers[proofHeader])) return resolve(response)
        response.destroy()
        reject(new Error(`${address} is not ${id}`))
      })
      sent.end(body)
    })
  }

  return {
    reach: (row: NodeRow): OtherNode => createOtherNode(row, (path, body, signal) => sendTo(row, path, body, signal)),
    close(): void {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}
