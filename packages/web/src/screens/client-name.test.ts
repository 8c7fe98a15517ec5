import { ClientId } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { clientText, nameClient } from './client-name.ts'

const linux = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0 Safari/537.36'
const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Mobile Safari/604'
const me = nameClient(linux, 'abc123', 'tab001')

it('names a tab by its browser and system, as a valid client id', () => {
  expect(ClientId.parse(me)).toBe('page.Chrome.Linux.abc123.tab001')
  expect(nameClient('', 'a', 'b')).toBe('page.other.other.a.b')
})

it('says who a client is in words', () => {
  const said = (client: string) => clientText(client, me)
  expect(said(nameClient(linux, 'abc123', 'tab002'))).toBe('another tab in this browser')
  expect(said(nameClient(phone, 'def456', 'tab003'))).toBe('Safari on iPhone')
  expect(said(nameClient('', 'def456', 'tab003'))).toBe('a browser')
  expect(said('terminal-0a1b2c3d')).toBe('a terminal')
  expect(said('0b6f3c1e-2f1d-4c7a-9a53-0d6a0c5f7a11')).toBe('a program')
  expect(said('robot')).toBe('robot')
})
