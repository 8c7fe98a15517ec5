import { getSystemErrorMap } from 'node:util'

/** Why a disk refused a write. */
export type StorageReason = 'disk_full' | 'read_only' | 'io'

const reasonOf: Readonly<Record<string, StorageReason>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EFBIG: 'disk_full',
  EROFS: 'read_only',
  EACCES: 'read_only',
  EPERM: 'read_only',
}

export const storageReason = (code: string): StorageReason => reasonOf[code] ?? 'io'

/** Returns the code of a system error (`ENOENT`), or null for any other error. */
export function systemErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && 'syscall' in error && typeof error.code === 'string'
    ? error.code
    : null
}

/** Returns a system error in words. Its own message is not used: it names internal paths. */
export function systemErrorWords(error: unknown): string {
  const code = systemErrorCode(error)
  for (const [name, words] of getSystemErrorMap().values()) if (name === code) return `${words} (${name})`
  return code ?? String(error)
}

/** Returns whether an import failed because the package `name` is not installed. Other import errors are bugs. */
export function isPackageMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') return false
  return error.message.includes(`Cannot find package '${name}'`)
}
