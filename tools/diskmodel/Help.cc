// SPDX-License-Identifier: GPL-2.0-or-later
/* How to use diskmodel. */

#include "tools/diskmodel/Commands.h"

#include "tools/diskmodel/device/Control.h"

std::string
DiskModel::helpText()
{
    return std::string(
               "diskmodel: a block device that takes as long as a disk would\n"
               "\n"
               "diskmodel serve --size=SIZE [options]     make one, until SIGTERM or SIGINT (root)\n"
               "  --model=NAME          hdd (default), hdd10k, ssd or fast\n"
               "  --set=NAME=VALUE,...  change the model's parameters, see below\n"
               "  --name=NAME           part of the folder's name\n"
               "  --store-folder=DIR    where the bytes are kept (default /dev/shm)\n"
               "  --store=FILE          keep them in this file, which stays\n"
               "  --overcommit          there need not be room for all of the disk\n"
               "  --record=FILE         record all writes, for replay\n"
               "  --record-limit=SIZE   end of that file; then all requests fail (default 4G)\n"
               "  --no-loop             no block device, only the file\n"
               "  --scheduler=NAME      of the block device (default: mq-deadline for hdd, else none)\n"
               "  --sector=BYTES        its logical block, 512 (default) to 4096\n"
               "  --until-eof           end when standard input ends, too\n"
               "  --patience=SECONDS    how long others may keep the disk in use after the end (10)\n"
               "It prints a line of JSON: device, folder, file, server. The folder holds the disk as\n"
               "a file; stats (JSON, read it); ctl (write commands, read what was wrong with them):\n") +
           Control::Help() +
           "\n"
           "diskmodel replay LOG IMAGE [options]      what a power cut would have left\n"
           "  --mode=MODE           prefix: all that arrived. drop: what flushes guarantee.\n"
           "                        subset (default): that, and some of the rest, some of it torn\n"
           "  --upto=N | --mark=N | --fraction=F      where the power is cut (default: at the end)\n"
           "  --seed=N              of what is kept, torn and lost (default 1)\n"
           "  --base=IMAGE          what was on the disk when the log began\n"
           "diskmodel replay LOG --list               the records: number, kind, offset, bytes, s\n"
           "\n"
           "diskmodel predict [options]               what the model itself says of a load\n"
           "  --model --set --size (8G) --block=SIZE (4K) --depth=N (1) --requests=N (2000)\n"
           "  --write --sequential --seed=N\n"
           "\n"
           "Parameters, with the values of hdd and ssd:\n" + Parameters::Help();
}
