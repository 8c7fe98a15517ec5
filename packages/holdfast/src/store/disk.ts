import { statfsSync } from 'node:fs'
import { systemErrorCode } from '../system/system-error.ts'

/** The content of a probe: as much as an ordinary append needs, and little enough to write twice a second. */
export const probeText = '0'.repeat(64 * 1024)

/** Marks the name of an unfinished file. Files that a crash left behind are found by it and removed. */
export const temporaryMark = '.new-'

/** Returns the name of a file until it is complete and replaces `path`. It contains the process id, to detect dead owners. */
export const temporaryPath = (path: string): string =>
  `${path}${temporaryMark}${process.pid}-${crypto.randomUUID().slice(0, 13)}` // the global one loads when it is first used

// The statfs(2) magic numbers of Linux.
const networkFileSystems: Readonly<Record<number, string>> = {
  26985: 'nfs',
  20859: 'smb',
  4283649346: 'cifs',
  4266872130: 'smb2',
  1397113167: 'afs',
  1799439955: 'afs',
  12805120: 'ceph',
  16914839: '9p',
  1937076805: 'coda',
  22092: 'ncp',
  18225520: 'gfs2',
  198183888: 'lustre',
  1952539503: 'ocfs2',
  2020557398: 'vboxsf',
}

export const networkFileSystemName = (statfsType: number): string | null => networkFileSystems[statfsType >>> 0] ?? null

/** Returns the result of a file operation, or null if the file does not exist. */
export async function ifExists<Value>(work: Promise<Value>): Promise<Value | null> {
  try {
    return await work
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error
    return null
  }
}

/** Returns the name of the network file system of a directory, or null. Only Linux has stable type numbers. */
export const networkFileSystemOf = (directory: string): string | null =>
  process.platform === 'linux' ? networkFileSystemName(statfsSync(directory).type) : null
