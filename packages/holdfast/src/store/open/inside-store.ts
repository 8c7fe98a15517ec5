import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { systemErrorCode } from '../../system/system-error.ts'
import type { DiskLocation } from './store-location.ts'

/** Why no copy of a store may be made at `path`: that is the store or lies in it, links followed. Null where it is not. */
export async function refusalInside(store: DiskLocation, path: string): Promise<Fault | null> {
  const real = await realPathOf(path)
  for (const own of [store.path, store.blobsDir]) {
    if (!isWithin(await realPathOf(own), real)) continue
    const message = `${path} lies in the store ${store.url} itself; a copy of it goes elsewhere.`
    return fault('bad_request', message, { store: store.url, path })
  }
  return null
}

function isWithin(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** The real path of what may not be there yet: of as much of it as is. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT' || dirname(path) === path) throw error
    return join(await realPathOf(dirname(path)), basename(path))
  }
}
