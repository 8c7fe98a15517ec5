import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PeerName, peerLoaders, peerNames } from './all-peers.ts'
import { makeMessages } from './conversations.ts'

const appends = 100

/**
 * Counts the sync system calls while a peer appends 100 messages to one session: those of 200 messages minus those of 100,
 * so that opening and closing do not count. Null without strace.
 */
export function countSyncs(peer: PeerName): number | null {
  const twice = syncsOf(peer, 2 * appends)
  const once = syncsOf(peer, appends)
  return twice === null || once === null ? null : twice - once
}

function syncsOf(peer: PeerName, messages: number): number | null {
  const traced = ['-f', '-qq', '-e', 'trace=fsync,fdatasync,sync_file_range,msync', '-e', 'signal=none']
  const command = [...traced, process.execPath, import.meta.filename, peer, String(messages)]
  const { error, status, stderr } = spawnSync('strace', command, { encoding: 'utf8', maxBuffer: 1 << 28 })
  if (error || status !== 0) return null
  return stderr.split('\n').filter((line) => /sync\w*\(|sync_file_range\(/.test(line)).length
}

if (import.meta.main) {
  const peer = peerNames.find((name) => name === process.argv[2])
  if (!peer) throw new Error(`a peer is one of ${peerNames.join(', ')}`)
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const open = await (await peerLoaders[peer]()).open(dir)
  const { append } = await open.begin()
  for (const message of makeMessages(1, Number(process.argv[3]), 500)) await append(message)
  await open.close()
  rmSync(dir, { recursive: true, force: true })
}
