import { blobTestBytesMax, describeBlobs } from '@holdfast/testkit/contracts'
import { createMemoryBlobs } from './memory-blobs.ts'

describeBlobs('memory', async () => createMemoryBlobs({ bytesMax: blobTestBytesMax }))
