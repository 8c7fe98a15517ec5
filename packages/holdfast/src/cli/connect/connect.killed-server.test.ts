import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findHome, type Home } from '../../system/home.ts'
import { findServer } from './connect.ts'
import { findToken } from './given-server.ts'
import { lockHome, writeServerFile } from './server-file.ts'

let directory = ''
let home: Home
let listener: Server
let url = ''
let requests = 0

/** Another program listens at the address, and answers like a healthy server. */
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hf-connect-'))
  home = findHome({ HOLDFAST_HOME: directory })
  requests = 0
  listener = createServer((_, response) => {
    requests += 1
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ status: 'ok', version: '0.1.0' }))
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
})
afterEach(() => {
  listener.close()
  rmSync(directory, { recursive: true, force: true })
})

const tokenOf = () => findToken(url, undefined, { environment: {}, home }).token

/** Starts a process that locks the home as `serve` does, and waits until it has the lock. */
async function startHolder() {
  const module = new URL('./server-file.ts', import.meta.url).href
  const code = `const { lockHome } = await import(${JSON.stringify(module)})
    globalThis.lock = lockHome({ stateDir: ${JSON.stringify(home.stateDir)} })
    console.log(lock === null ? 'refused' : 'locked')
    process.stdin.resume()`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [said] = await once(holder.stdout, 'data')
  expect(String(said)).toBe('locked\n')
  return {
    pid: holder.pid ?? 0,
    async kill() {
      const ended = once(holder, 'exit')
      holder.kill('SIGKILL')
      await ended
    },
  }
}

describe('the server of server.json', () => {
  it('counts while its process holds the lock, and is gone once it was killed', async () => {
    const holder = await startHolder()
    const file = await writeServerFile(home, { url, pid: holder.pid }, 'the secret of the server')
    expect(await findServer({ home })).toEqual(file)
    expect(tokenOf()).toBe('the secret of the server')
    await holder.kill()
    requests = 0
    expect(await findServer({ home })).toBeNull()
    expect(tokenOf()).toBeUndefined()
    expect(requests).toBe(0)
  })

  it('is gone if another process has its id now, which does not hold the lock', async () => {
    lockHome(home)?.release()
    await writeServerFile(home, { url, pid: process.ppid }, 'the secret of the server')
    expect([await findServer({ home }), tokenOf(), requests]).toEqual([null, undefined, 0])
  })

  it('is gone if another server is just starting, which has not written its address yet', async () => {
    const killed = await startHolder()
    await writeServerFile(home, { url, pid: killed.pid }, 'the secret of the server')
    await killed.kill()
    const starting = await startHolder()
    expect([await findServer({ home }), tokenOf(), requests]).toEqual([null, undefined, 0])
    await starting.kill()
  })
})
