import type { ChildProcess } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { system } from './machine.ts'

/** An ext4 file system whose power can be cut: unsynced data is lost. */
export interface Disk {
  readonly path: string
  /** Drops everything that is not on the disk. Stop all writers first. */
  cut(): void
  /** Restores power: the journal is replayed. */
  restore(): void
  remove(): void
}

const diskBytes = 64 * 1024 * 1024
// _IOR('X', 125, __u32) with NOLOGFLUSH; Node has no ioctl.
const shutDown = `import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
fcntl.ioctl(fd, 0x8004587D, struct.pack("I", 2))`

export function createDisk(home: string): Disk {
  const [image, path] = [join(home, 'disk.img'), join(home, 'disk')]
  writeFileSync(image, '')
  truncateSync(image, diskBytes)
  mkdirSync(path)
  system('mkfs.ext4', '-q', '-F', image)
  const mount = () => void system('mount', '-o', 'loop', image, path)
  mount()
  return {
    path,
    cut: () => void system('python3', '-c', shutDown, path),
    restore() {
      system('umount', path)
      mount()
    },
    remove() {
      system('umount', path)
      rmSync(image)
    },
  }
}

/** Stops a process and waits until all its threads have stopped, so that its acknowledgements are known. */
export async function standStill({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined) throw new Error('the process did not start')
  process.kill(pid, 'SIGSTOP')
  const tasks = `/proc/${pid}/task`
  while (!readdirSync(tasks).every((task) => isStopped(join(tasks, task, 'stat')))) await delay(1)
}

function isStopped(path: string): boolean {
  try {
    return / \(.*\) T /.test(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return true // the thread has ended
    throw error
  }
}
