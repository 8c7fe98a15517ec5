import fs from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What of the disk of this process can be made to fail: calls on an open file, and calls by name. */
const onFile = ['write', 'writeFile', 'appendFile', 'datasync', 'sync', 'truncate', 'chmod'] as const
const byName = ['open', 'rename', 'link', 'mkdir', 'rm'] as const
export type DiskCall = (typeof onFile)[number] | (typeof byName)[number]

export const writeCalls = ['write', 'writeFile', 'appendFile'] as const satisfies readonly DiskCall[]
export const syncCalls = ['datasync', 'sync'] as const satisfies readonly DiskCall[]
/** But to remove something, which takes no room. */
export const allCalls: readonly DiskCall[] = [...onFile, ...byName.filter((call) => call !== 'rm')]

export type DiskFault = {
  readonly calls: readonly DiskCall[]
  /** The n-th of them fails, counting from 1. */
  readonly nth: number
  readonly errno: 'ENOSPC' | 'EIO' | 'EROFS' | 'EACCES' | 'EMFILE'
  /** Whether all after it fail too, until the disk is well again. */
  readonly lasts: boolean
  /** Only below this directory; a call on an open file is taken to be. */
  readonly below: string
}

/** A disk that fails, in this process and for plain files only: SQLite has its own way to the system. */
export interface FailingDisk {
  /** Whether the fault was met. */
  hasFailed(): boolean
  heal(): void
}

// biome-ignore lint/complexity/noBannedTypes: a method of another module, wrapped and put back as it was
type Method = Function

export async function breakDisk({ calls, nth, errno, lasts, below }: DiskFault): Promise<FailingDisk> {
  const handles = await prototypeOfHandles()
  const byNames = fs.promises as unknown as Record<string, Method> // the module's own object, whose names we replace
  const puttingBack: (() => void)[] = []
  let [count, failed, isWell] = [0, false, false]

  const isHit = (): boolean => {
    if (isWell) return false
    count += 1
    if (count !== nth && !(lasts && count > nth)) return false
    failed = true
    return true
  }
  const error = (call: string) =>
    Object.assign(new Error(`${errno}: injected, ${call}`), { code: errno, syscall: call, errno: -1 })

  function wrap(owner: Record<string, Method>, call: string, isMeant: (first: unknown) => boolean): void {
    const real = owner[call]
    if (real === undefined) throw new Error(`there is no ${call} to fail`)
    owner[call] = function (this: unknown, ...given: unknown[]) {
      if (!isMeant(given[0]) || !isHit()) return real.apply(this, given)
      const [bytes, offset = 0] = given
      // A disk that fills up takes what there is room for.
      if (call !== 'write' || !Buffer.isBuffer(bytes)) return Promise.reject(error(call))
      const half = Math.floor((bytes.length - Number(offset)) / 2)
      return real.call(this, bytes, offset, half).then(() => Promise.reject(error(call)))
    }
    puttingBack.push(() => {
      owner[call] = real
    })
  }

  for (const call of calls) {
    const isOnFile = onFile.some((one) => one === call)
    wrap(isOnFile ? handles : byNames, call, (first) => isOnFile || String(first).startsWith(below))
  }
  syncBuiltinESMExports()
  return {
    hasFailed: () => failed,
    heal() {
      isWell = true
      for (const putBack of puttingBack.splice(0)) putBack()
      syncBuiltinESMExports()
    },
  }
}

async function prototypeOfHandles(): Promise<Record<string, Method>> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-handle-'))
  const handle: FileHandle = await open(join(directory, 'any'), 'w')
  await handle.close()
  await rm(directory, { recursive: true })
  return Object.getPrototypeOf(handle) as Record<string, Method> // methods, by their names
}
