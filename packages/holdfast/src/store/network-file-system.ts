import { statfsSync } from 'node:fs'

// statfs(2) magic numbers of Linux.
const names: Readonly<Record<number, string>> = {
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

export const networkFileSystemName = (statfsType: number): string | null => names[statfsType >>> 0] ?? null

/** The network file system a directory lies on, by name, or null. Only Linux tells types apart by a stable number. */
export function networkFileSystemOf(directory: string): string | null {
  return process.platform === 'linux' ? networkFileSystemName(statfsSync(directory).type) : null
}
