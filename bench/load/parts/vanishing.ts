import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { startCrowd } from './crowd.ts'
import { eventsPath, startLoadServer } from './load-server.ts'
import { waitUntilGone } from './wait-until-gone.ts'

/*
 * Runs in a network namespace of its own (`unshare -rn`). Its clients run in a second one, and a pair of virtual devices
 * connects both. Then the clients lose their address: what the server sends to them is dropped without a word.
 */
const [serverAddress, clientAddress] = ['10.77.0.1', '10.77.0.2']
const [dir = '', clients = ''] = process.argv.slice(2)

const ip = (...args: readonly string[]): string => execFileSync('ip', args, { encoding: 'utf8' })

process.env['HOLDFAST_TOKEN'] ??= randomUUID() // a server that others can reach needs one
ip('link', 'set', 'lo', 'up')
await using crowd = startCrowd(['unshare', '-n'])
await crowd.forget() // it is in its own namespace now
const pid = String(crowd.process.pid)
const there = (...args: readonly string[]): string =>
  execFileSync('nsenter', ['-t', pid, '-n', 'ip', ...args], { encoding: 'utf8' })
ip('link', 'add', 'server', 'type', 'veth', 'peer', 'name', 'clients', 'netns', pid)
ip('addr', 'add', `${serverAddress}/24`, 'dev', 'server')
ip('link', 'set', 'server', 'up')
there('addr', 'add', `${clientAddress}/24`, 'dev', 'clients')
there('link', 'set', 'clients', 'up')
// Otherwise the server would learn from its own system that nobody has the address.
const [, mac = ''] = /link\/ether (\S+)/.exec(there('link', 'show', 'clients')) ?? []
ip('neigh', 'replace', clientAddress, 'lladdr', mac, 'dev', 'server', 'nud', 'permanent')

await using server = await startLoadServer(await mkdtemp(join(dir, 'vanishing-')), { args: ['--host', serverAddress] })
const handle = await server.start()
const { connections } = await server.look()
await crowd.open(server.target(eventsPath(handle)), Number(clients))
there('addr', 'del', `${clientAddress}/24`, 'dev', 'clients')
process.stdout.write(JSON.stringify(await waitUntilGone(server, connections)))
