import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findHome } from '../../system/home.ts'
import { loadCookieKey, readServerFile, readToken, removeServerFile, writeServerFile } from './server-file.ts'

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hf-server-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const server = { url: 'http://127.0.0.1:4820', pid: 1 }

describe('server.json', () => {
  it('is readable by its user alone, even if the state directory was open to others', async () => {
    const home = findHome({ HOLDFAST_HOME: directory })
    mkdirSync(home.stateDir)
    chmodSync(home.stateDir, 0o755)
    const file = await writeServerFile(home, server, 'secret')
    const modes = [home.stateDir, home.serverFile, file.tokenFile].map((path) => statSync(path).mode & 0o777)
    expect(modes).toEqual([0o700, 0o600, 0o600])
    expect(readServerFile(home)).toEqual(file)
    expect(readToken(file)).toBe('secret')
  })

  it('is removed only by the server it names', async () => {
    const home = findHome({ HOLDFAST_HOME: directory })
    const file = await writeServerFile(home, server, 'secret')
    removeServerFile(home, { ...file, pid: 2 })
    expect(readServerFile(home)).toEqual(file)
    removeServerFile(home, file)
    expect(readServerFile(home)).toBeNull()
  })

  it('has a login key that survives a restart', async () => {
    const home = findHome({ HOLDFAST_HOME: directory })
    const key = await loadCookieKey(home, 1)
    expect(await loadCookieKey(home, 2)).toEqual(key)
  })
})
