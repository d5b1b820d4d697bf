# SPDX-License-Identifier: GPL-2.0-or-later
# make -f packaging/module/module.mk TOP=... SQUID=... PROGRAM=... OUT=...
# builds the module for the Squid PROGRAM, whose file is called NAME: OUT/lib/squid-clusterfs has NAME.so and
# load.so, OUT/lib has libclusterfs, OUT/sbin has squid-clusterfs and the clusterfs tool, OUT/share/clusterfs what that needs.
# TOP: our sources. SQUID: the tree that the program was made from, configured in the same way.
# What is compiled on the way is left below the current folder. tools/build/build-module calls this.

name := $(notdir $(PROGRAM))
engine := $(shell cd $(TOP) && find src/fs/cluster -name '*.cc' -not -path '*/squid/*' -not -path '*/sharing/*' | sort)
sharing := $(shell cd $(TOP) && find src/fs/cluster/sharing -name '*.cc' | sort)
library := $(shell cd $(TOP) && find src/lib -name '*.cc' | sort)
tool := $(shell cd $(TOP) && find tools/cli tools/base tools/replay tools/models -name '*.cc' | sort) \
	src/fs/cluster/squid/MapCells.cc src/fs/cluster/squid/ObjectText.cc
glue := $(shell cd $(TOP) && find src/fs/cluster/squid -name '*.cc' | sort) packaging/module/Module.cc packaging/module/Fit.cc

# as Debian's rules for Squid ask for them
flags := $(shell DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get CXXFLAGS) -fPIC -std=c++17 -Wall -MMD -MP
cppflags := $(shell DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get CPPFLAGS)
ldflags := $(shell DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get LDFLAGS) -Wl,--as-needed
squid := -DHAVE_CONFIG_H -I$(SQUID)/include -I$(SQUID) -I$(SQUID)/lib -I$(SQUID)/src -I$(TOP)/src -I$(TOP)

engine_objects := $(engine:%.cc=engine/%.o)
library_objects := $(library:%.cc=engine/%.o)
shared_library := $(shell sed -n 's/^shared_library = //p' $(TOP)/Makefile.am)
soname := $(shell sed -n 's/^libclusterfs_abi = //p' $(TOP)/Makefile.am)
shared_library_flags := $(shell sed -n 's/^shared_library_flags = //p' $(TOP)/Makefile.am)
glue_objects := $(glue:%.cc=$(name)/%.o) $(name)/Fingerprint.o

lib := $(OUT)/lib/squid-clusterfs
all: $(lib)/$(name).so $(lib)/load.so $(OUT)/sbin/squid-clusterfs $(OUT)/sbin/clusterfs $(OUT)/lib/$(shared_library) $(OUT)/lib/libclusterfs.a
	@rm -rf $(OUT)/share/clusterfs/view
	@mkdir -p $(OUT)/share/clusterfs/view
	@cp $(TOP)/tools/view/*.py $(OUT)/share/clusterfs/view

# functions that are missing are Squid's, and none of ours: the loader says which of them the program lacks
$(lib)/$(name).so: $(engine_objects) $(sharing:%.cc=engine/%.o) $(glue_objects)
	@mkdir -p $(@D)
	$(CXX) -shared $(ldflags) -o $@ $^ -laio -lisal -lblkid
	! nm -D --undefined-only $@ | grep ClusterFs

$(lib)/load.so: engine/packaging/module/Loader.o
	@mkdir -p $(@D)
	$(CXX) -shared $(ldflags) -Wl,-z,defs -o $@ $^

$(OUT)/sbin/squid-clusterfs: engine/packaging/module/Start.o
	@mkdir -p $(@D)
	$(CXX) -pie $(ldflags) -o $@ $^

$(OUT)/sbin/clusterfs: $(engine_objects) $(library_objects) $(tool:%.cc=engine/%.o)
	@mkdir -p $(@D)
	$(CXX) -pie $(ldflags) -o $@ $^ -laio -lisal -lblkid -lz -lcrypto -lfuse3

$(OUT)/lib/$(shared_library): $(engine_objects) $(library_objects) $(TOP)/src/lib/clusterfs.map
	@mkdir -p $(@D)
	$(CXX) -shared $(ldflags) -Wl,-soname,$(soname) $(shared_library_flags) -Wl,--version-script=$(TOP)/src/lib/clusterfs.map -o $@ $(filter %.o,$^) \
		-laio -lisal -lblkid -lcrypto

$(OUT)/lib/libclusterfs.a: $(engine_objects) $(library_objects)
	@rm -f $@
	$(AR) cr $@ $^

engine/%.o: $(TOP)/%.cc
	@mkdir -p $(@D)
	$(CXX) $(cppflags) -I$(TOP)/src -I$(TOP)/include -I$(TOP) $(flags) -c -o $@ $<

$(name)/%.o: $(TOP)/%.cc $(SQUID)/include/autoconf.h
	@mkdir -p $(@D)
	$(CXX) $(cppflags) $(squid) $(flags) -Wno-deprecated-declarations -c -o $@ $<

$(name)/Fingerprint.cc: $(PROGRAM) $(TOP)/packaging/module/fingerprint
	@mkdir -p $(@D)
	$(TOP)/packaging/module/fingerprint $(PROGRAM) >$@.new
	mv $@.new $@

$(name)/Fingerprint.o: $(name)/Fingerprint.cc
	$(CXX) $(cppflags) -I$(TOP) $(flags) -c -o $@ $<

-include $(engine_objects:.o=.d) $(library_objects:.o=.d) $(tool:%.cc=engine/%.d) $(glue_objects:.o=.d) engine/packaging/module/Loader.d engine/packaging/module/Start.d
.DELETE_ON_ERROR:
.PHONY: all
