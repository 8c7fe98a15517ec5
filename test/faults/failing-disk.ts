import fs from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The file system calls that can fail: on an open file, or by path. */
const onFile = ['write', 'writeFile', 'appendFile', 'datasync', 'sync', 'truncate', 'chmod'] as const
const byName = ['open', 'rename', 'link', 'mkdir', 'rm'] as const
export type DiskCall = (typeof onFile)[number] | (typeof byName)[number]

export const writeCalls = ['write', 'writeFile', 'appendFile'] as const satisfies readonly DiskCall[]
export const syncCalls = ['datasync', 'sync'] as const satisfies readonly DiskCall[]
/** Without removals, which need no space. */
export const allCalls: readonly DiskCall[] = [...onFile, ...byName.filter((call) => call !== 'rm')]

export type DiskFault = {
  readonly calls: readonly DiskCall[]
  /** The n-th call fails, counted from 1. */
  readonly nth: number
  readonly errno: 'ENOSPC' | 'EIO' | 'EROFS' | 'EACCES' | 'EMFILE'
  /** Whether all later calls fail too, until the disk is healed. */
  readonly lasts: boolean
  /** Only calls in this directory; a call on an open file always counts. */
  readonly below: string
}

/** Makes the disk fail in this process, for plain files only: SQLite calls the system itself. */
export interface FailingDisk {
  /** Whether the fault occurred. */
  hasFailed(): boolean
  heal(): void
}

// biome-ignore lint/complexity/noBannedTypes: a method of another module, wrapped and later restored
type Method = Function

export async function breakDisk({ calls, nth, errno, lasts, below }: DiskFault): Promise<FailingDisk> {
  const handles = await prototypeOfHandles()
  const byNames = fs.promises as unknown as Record<string, Method> // the module object, whose methods are replaced
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
      // A disk that fills up accepts a part of the write.
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
  return Object.getPrototypeOf(handle) as Record<string, Method> // methods by name
}
